package nodes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// updates are of a cluster with these in the caches, and live in the API server.
func updates(t *testing.T, live []runtime.Object, cached ...metav1.Object) Updates {
	t.Helper()
	kube := fake.NewClientset(live...)
	all := informers.NewSharedInformerFactory(kube, 0)
	n := Updates{Env: ctrl.Env{
		Driver: driver.RBD, Kube: kube, DaemonSets: all.Apps().V1().DaemonSets(),
		StorageClasses: all.Storage().V1().StorageClasses(), PersistentVolumes: all.Core().V1().PersistentVolumes(),
	}}
	for _, o := range cached {
		store := n.DaemonSets.Informer().GetStore()
		switch o.(type) {
		case *storagev1.StorageClass:
			store = n.StorageClasses.Informer().GetStore()
		case *corev1.PersistentVolume:
			store = n.PersistentVolumes.Informer().GetStore()
		}
		if err := store.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func TestUserSpaceMounts(t *testing.T) {
	class := func(provisioner, key, value string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Provisioner: provisioner, Parameters: map[string]string{key: value}}
	}
	volume := func(driverName, mounter string) *corev1.PersistentVolume {
		v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeAttributes: map[string]string{"mounter": mounter}}
		return v
	}
	rbd, other := driver.RBD.Name, driver.CephFS.Name
	tests := map[string]struct {
		reason string
		class  *storagev1.StorageClass
		volume *corev1.PersistentVolume
		want   bool
	}{
		"KernelOnly":   {"krbd mounts survive the pod", class(rbd, "mounter", "rbd"), volume(rbd, ""), false},
		"ClassWithNBD": {"a user's class may have mounts at any time", class(rbd, "mounter", "rbd-nbd"), volume(rbd, ""), true},
		"FallsBack":    {"ceph-csi may choose rbd-nbd by itself", class(rbd, "tryOtherMounters", "true"), volume(rbd, ""), true},
		"OldVolume":    {"its class may be gone", class(rbd, "mounter", ""), volume(rbd, "rbd-nbd"), true},
		"OtherClass":   {"those are read for nothing else", class(rbd, "pool", "p"), volume(rbd, ""), false},
		"OtherDriver":  {"those mounts live in other pods", class(other, "mounter", "fuse"), volume(other, "fuse"), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := updates(t, nil, tc.class, tc.volume)
			d := &appsv1.DaemonSet{}
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "other"}, {Name: driver.Container, Image: "quay.io/cephcsi/cephcsi:v3.18.0"}}
			if err := n.Hook(nil, d); err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(d.Spec.Template.Spec.Containers[1].Args, "--feature-gates=SlowGRPCRestart=false"); got != tc.want {
				t.Errorf("%s: a stuck call ends ceph-csi: %t", tc.reason, !got)
			}
			if got := d.Spec.Template.Spec.HostPID; got != tc.want {
				t.Errorf("%s: hostPID is %t", tc.reason, got)
			}
			if wakes := n.Matters(tc.class) || n.Matters(tc.volume); wakes != tc.want {
				t.Errorf("%s: that class or volume come or go is heard: %t", tc.reason, wakes)
			}
		})
	}
}

// TestPossible: what such mounts need comes as soon as something asks for them, and goes only where all was read, and nothing
// does.
func TestPossible(t *testing.T) {
	nbd := map[string]string{"mounter": "rbd-nbd"}
	class := &storagev1.StorageClass{Provisioner: driver.RBD.Name, Parameters: nbd}
	volume := &corev1.PersistentVolume{}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver.RBD.Name, VolumeAttributes: nbd}
	kernel := &storagev1.StorageClass{Provisioner: driver.RBD.Name}
	tests := map[string]struct {
		reason               string
		objects              []metav1.Object
		unread               string
		possible, impossible bool
	}{
		"Nothing":       {reason: "nobody asks", impossible: true},
		"Kernel":        {reason: "nor does this", objects: []metav1.Object{kernel}, impossible: true},
		"Class":         {reason: "a volume of it may come at any time", objects: []metav1.Object{kernel, class}, possible: true},
		"Volume":        {reason: "its class may be gone", objects: []metav1.Object{volume}, possible: true},
		"UnreadClasses": {reason: "one may be among them", unread: "classes"},
		"UnreadVolumes": {reason: "one may be among them", unread: "volumes"},
		"UnreadLater":   {reason: "read first, a volume tells nothing of classes", objects: []metav1.Object{volume}, unread: "classes"},
		"BrokenClasses": {reason: "an error is not none", unread: "classes fail"},
		"BrokenVolumes": {reason: "nor is it here", unread: "volumes fail"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := updates(t, nil, tc.objects...)
			n.StorageClasses = readClasses{n.StorageClasses, tc.unread != "classes", tc.unread == "classes fail"}
			n.PersistentVolumes = readVolumes{n.PersistentVolumes, tc.unread != "volumes", tc.unread == "volumes fail"}
			if possible, impossible := n.Possible(), n.Impossible(); possible != tc.possible || impossible != tc.impossible {
				t.Errorf("%s: possible %t, impossible %t", tc.reason, possible, impossible)
			}
		})
	}
}

// readClasses are those of an informer that has synced or not, and whose list may fail; readVolumes likewise.
type readClasses struct {
	storageinformers.StorageClassInformer
	synced, fails bool
}

func (r readClasses) Informer() cache.SharedIndexInformer {
	return syncedInformer{r.StorageClassInformer.Informer(), r.synced}
}

func (r readClasses) Lister() storagelisters.StorageClassLister {
	if r.fails {
		return failingClasses{}
	}
	return r.StorageClassInformer.Lister()
}

type readVolumes struct {
	coreinformers.PersistentVolumeInformer
	synced, fails bool
}

func (r readVolumes) Informer() cache.SharedIndexInformer {
	return syncedInformer{r.PersistentVolumeInformer.Informer(), r.synced}
}

func (r readVolumes) Lister() corelisters.PersistentVolumeLister {
	if r.fails {
		return failingVolumes{}
	}
	return r.PersistentVolumeInformer.Lister()
}

type syncedInformer struct {
	cache.SharedIndexInformer
	synced bool
}

func (s syncedInformer) HasSynced() bool { return s.synced }

type (
	failingClasses struct {
		storagelisters.StorageClassLister
	}
	failingVolumes struct {
		corelisters.PersistentVolumeLister
	}
)

func (failingClasses) List(labels.Selector) ([]*storagev1.StorageClass, error) {
	return nil, errors.New("no index")
}

func (failingVolumes) List(labels.Selector) ([]*corev1.PersistentVolume, error) {
	return nil, errors.New("no index")
}

// TestLeftAlone: an update must not end what lives in the pods.
func TestLeftAlone(t *testing.T) {
	rolling, onDelete := appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType
	for name, tc := range map[string]struct {
		reason       string
		class, owner string
		volume       string
		is, want     appsv1.DaemonSetUpdateStrategyType
	}{
		"Kernel":     {"kernels' mounts go on", "", driver.RBD.Name, "", rolling, rolling},
		"FirstClass": {"without a volume, pods have nothing to lose, and are to see the node's processes", "rbd-nbd", driver.RBD.Name, "", rolling, rolling},
		"Volume":     {"any of them may have mounted it", "rbd-nbd", driver.RBD.Name, "rbd-nbd", rolling, onDelete},
		"OldVolume":  {"its class has gone", "", driver.RBD.Name, "rbd-nbd", onDelete, onDelete},
		"Others":     {"those mounts live in other pods", "", driver.CephFS.Name, "fuse", rolling, rolling},
		"LastVolume": {"a class alone has mounted nothing", "rbd-nbd", driver.RBD.Name, "", onDelete, rolling},
	} {
		t.Run(name, func(t *testing.T) {
			live := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName(), Generation: 7}}
			live.Spec.UpdateStrategy.Type = tc.is
			live.Status = appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 3}
			class := &storagev1.StorageClass{Provisioner: driver.RBD.Name, Parameters: map[string]string{"mounter": tc.class}}
			volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
			volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: tc.owner, VolumeAttributes: map[string]string{"mounter": tc.volume}}
			n := updates(t, []runtime.Object{live}, live, class, volume)
			n.Unavailable = func(context.Context, *appsv1.DaemonSet) ([]Unserved, error) { return nil, nil }
			required := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName()}}
			required.Spec.UpdateStrategy.Type = rolling
			if err := n.Hook(nil, required); err != nil {
				t.Fatal(err)
			}
			if got := required.Spec.UpdateStrategy.Type; got != tc.want {
				t.Errorf("%s: strategy is %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestAwayIsNotProgressing: a node that is not ready must not hold up an upgrade for ever.
func TestAwayIsNotProgressing(t *testing.T) {
	away, crashing := Unserved{Node: "a", Away: true}, Unserved{Node: "a"}
	for name, tc := range map[string]struct {
		reason           string
		updated, missing int32
		unserved         Unserved
		annotated        bool
		asked            int
	}{
		"Done":     {"nobody is asked for anything", 8, 0, away, false, 0},
		"Away":     {"all others have the new pod", 7, 1, away, true, 1},
		"Crashing": {"the new pod does not start", 8, 1, crashing, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			live := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName(), Generation: 7}}
			live.Status = appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: tc.updated, NumberUnavailable: tc.missing}
			asked := 0
			n := updates(t, []runtime.Object{live}, live)
			n.Unavailable = func(context.Context, *appsv1.DaemonSet) ([]Unserved, error) {
				asked++
				return []Unserved{tc.unserved}, nil
			}
			required := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName()}}
			if err := n.Hook(nil, required); err != nil {
				t.Fatal(err)
			}
			if got := required.Annotations["storage.openshift.io/stable-generation"] == "7"; got != tc.annotated || asked != tc.asked {
				t.Errorf("%s: marked as rolled out is %t after %d questions", tc.reason, got, asked)
			}
		})
	}
}

func TestOnDeleteIsNotProgressing(t *testing.T) {
	away := []Unserved{{Node: "a", Away: true}}
	tests := map[string]struct {
		reason    string
		strategy  appsv1.DaemonSetUpdateStrategyType
		status    appsv1.DaemonSetStatus
		unserved  []Unserved
		annotated bool
		current   operatorv1.ConditionStatus
	}{
		"Outdated": {"pods wait for the administrator, nothing is rolling out", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 3}, nil, true, operatorv1.ConditionFalse},
		"Current": {"all pods were replaced", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 8}, nil, true, ""},
		"JustChanged": {"Kubernetes will see the change and roll nothing out", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 6, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 8}, nil, true, ""},
		"Restarting": {"a deleted pod comes back: library-go decides", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, NumberUnavailable: 1}, nil, false, ""},
		"Away": {"on a node that is down nothing is replaced", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 3, NumberUnavailable: 1}, away, true, operatorv1.ConditionFalse},
		"OnlyAway": {"the node that is down gets its new pod when it is back", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 7, NumberUnavailable: 1}, away, true, ""},
		"AwayAndRestarting": {"a deleted pod comes back beside a node that is down", appsv1.OnDeleteDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 3, NumberUnavailable: 2}, append(away, Unserved{Node: "b"}), false, ""},
		"NotYetOnDelete": {"the strategy is about to change", appsv1.RollingUpdateDaemonSetStrategyType,
			appsv1.DaemonSetStatus{ObservedGeneration: 7, DesiredNumberScheduled: 8, UpdatedNumberScheduled: 3}, nil, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cached := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName(), Generation: 7}, Status: tc.status}
			cached.Spec.UpdateStrategy.Type = tc.strategy
			stale := cached.DeepCopy()
			stale.Generation, stale.Status.ObservedGeneration = 6, 6
			volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}}
			volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver.RBD.Name, VolumeAttributes: map[string]string{"mounter": "rbd-nbd"}}
			n := updates(t, []runtime.Object{cached}, stale, volume)
			n.Unavailable = func(context.Context, *appsv1.DaemonSet) ([]Unserved, error) { return tc.unserved, nil }
			required := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName()}}
			if err := n.Hook(nil, required); err != nil {
				t.Fatal(err)
			}
			if got := required.Annotations["storage.openshift.io/stable-generation"] == "7"; got != tc.annotated {
				t.Errorf("%s: marked as rolled out is %t, want %t", tc.reason, got, tc.annotated)
			}
			got := n.current(cached, tc.unserved)
			if ptr.Deref(got.Status, "") != tc.current {
				t.Errorf("%s: NodePodsCurrent is %q, want %q", tc.reason, ptr.Deref(got.Status, ""), tc.current)
			}
			if tc.current == operatorv1.ConditionFalse && !strings.Contains(ptr.Deref(got.Message, ""), "oc delete pod") {
				t.Errorf("the message must say what to do: %s", ptr.Deref(got.Message, ""))
			}
		})
	}
}
