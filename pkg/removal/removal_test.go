package removal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestManagedTouchesNothing(t *testing.T) {
	r := newRig(t)
	before := r.there(t)
	r.pass(t, 3)
	if diff := cmp.Diff(before, r.there(t)); diff != "" || r.operator.Writes() != 0 || r.looks != 0 {
		t.Errorf("%d writes, %d looks, removed (-before):\n%s", r.operator.Writes(), r.looks, diff)
	}
	r.expectState(t, operatorv1.Managed)
}

// TestWaits: while something needs the driver, the classes alone go.
func TestWaits(t *testing.T) {
	tests := map[string]struct {
		cached, held Held
		unread       error
		reason, want string
	}{
		"Volumes":     {Held{Volumes: 2}, Held{Attachments: 1}, nil, condition.WaitingForVolumes, "2 PersistentVolumes and 1 VolumeAttachment of"},
		"OldCache":    {Held{}, Held{Volumes: 1}, nil, condition.WaitingForVolumes, "1 PersistentVolume of"},
		"Attachments": {Held{}, Held{Attachments: 3}, nil, condition.WaitingForVolumes, "3 VolumeAttachments of"},
		"Snapshots":   {Held{Snapshots: 1}, Held{}, nil, condition.WaitingForVolumes, "1 VolumeSnapshotContent of"},
		"Unread":      {Held{}, Held{}, errors.New("the CRD is being removed"), condition.SyncError, "the CRD is being removed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.pass(t, 1)
			r.declared, r.cached, r.held, r.unread = true, tc.cached, tc.held, tc.unread
			before := r.there(t)
			r.pass(t, 20)
			r.expect(t, operatorv1.ConditionFalse, tc.reason, tc.want)
			r.expectState(t, operatorv1.Managed)
			var classes []string
			for _, o := range r.objects.Classes {
				classes = append(classes, o.String())
			}
			want := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(classes, name) })
			if diff := cmp.Diff(want, r.there(t)); diff != "" {
				t.Errorf("what is left (-want +got):\n%s", diff)
			}
			if r.record.class.Annotations["users"] != "annotation" || r.record.class.Labels["users"] != "label" {
				t.Errorf("remembered %+v", r.record.class)
			}
			writes := r.operator.Writes()
			if r.pass(t, 3); r.operator.Writes() != writes {
				t.Error("it writes the same again")
			}
		})
	}
}

func TestRemoves(t *testing.T) {
	r := newRig(t)
	r.pass(t, 1)
	r.declared, r.traces = true, []string{"of StorageProfile x"}
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "30s")
	r.pass(t, 2)
	r.held.Volumes = 1 // It was on its way.
	r.pass(t, 1)
	r.held.Volumes = 0
	r.pass(t, 3)
	r.expectState(t, operatorv1.Managed)
	r.pass(t, 1)
	r.expectState(t, operatorv1.Removed)
	if !slices.Contains(r.there(t), "DaemonSet "+driver.RBD.NodeName()) {
		t.Error("the others had no time to end what they are at")
	}
	r.pass(t, 2)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "Pod node-1")
	if !slices.Contains(r.there(t), "Secret "+driver.RBD.NodeSecret()) {
		t.Error("a pod that still runs uses the Secret")
	}
	r.endPods(t)
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "of StorageProfile x")
	r.pass(t, 2)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "Managed to have the driver back")
	want := []string{"ConfigMap " + driver.RBD.StateConfigMap(), "Lease " + driver.RBD.OperatorName() + "-lock", "Lease " + leaseOfOther, "Secret " + driver.CredentialsSecret}
	if diff := cmp.Diff(want, r.there(t)); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	looks, writes := r.looks, r.operator.Writes()
	r.client.ClearActions()
	r.pass(t, 3)
	if r.looks != looks || r.operator.Writes() != writes || len(r.client.Actions()) > 0 {
		t.Errorf("what is done asks and writes: %v", r.client.Actions())
	}
	r.cached.Volumes = 1
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.WaitingForVolumes, "1 PersistentVolume")
	r.expectState(t, operatorv1.Removed)

	r.declared = false
	r.pass(t, 1)
	r.expectState(t, operatorv1.Managed)
	if got := r.operator.Condition(condition.DriverRemoved); got != nil {
		t.Errorf("left behind: %+v", got)
	}
}

// TestRestartedAfterwards: a new process looks again, and says nothing that it does not know.
func TestRestartedAfterwards(t *testing.T) {
	r := newRig(t)
	r.declared = true
	r.endPods(t)
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	r.state.Clear()
	r.controller = New(r.config)
	writes := r.operator.Writes()
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	if r.operator.Writes() != writes {
		t.Error("it says the same again")
	}
}

// TestFails: what cannot be deleted is told, and what needs it stays.
func TestFails(t *testing.T) {
	r := newRig(t)
	r.declared = true
	refused := errors.New("VirtualMachineImages use it")
	r.client.PrependReactor("delete", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
	for range 8 {
		if err := r.sync(t); err != nil && !errors.Is(err, refused) {
			t.Fatal(err)
		}
		r.clock.SetTime(r.clock.Now().Add(lookAgain))
	}
	r.expect(t, operatorv1.ConditionFalse, condition.SyncError, "deleting StorageClass ceph-rbd")
	if !slices.Contains(r.there(t), "Deployment "+driver.RBD.ControllerName()) {
		t.Error("the class leads to volumes that nobody makes")
	}
}

// TestRememberedOnce: a controller that was about to make the class did so from what is remembered.
func TestRememberedOnce(t *testing.T) {
	r := newRig(t)
	r.record.class = state.Class{UID: "first", Annotations: map[string]string{"users": "first"}}
	r.declared, r.cached.Volumes = true, 1
	r.pass(t, 1)
	if r.record.class.UID != "first" {
		t.Errorf("forgotten for %+v", r.record.class)
	}
}

// TestRememberedPastTheCache: a class that the cache has as remembered came back, and was forgotten, meanwhile.
func TestRememberedPastTheCache(t *testing.T) {
	remembered := func(text string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.StateConfigMap(), Namespace: driver.Namespace},
			Data: map[string]string{"version": "1", "class": text}}
	}
	for name, former := range map[string]string{
		"Another": `{"annotations":{"users":"former"},"labels":null,"uid":"former"}`,
		"Same":    `{"annotations":{"csi.openshift.io/managed":"true","users":"annotation"},"labels":{"storage.openshift.io/managed-by":"ceph-rbd-csi-driver-operator","users":"label"},"uid":"uid"}`,
	} {
		r := newRig(t)
		kube := fake.NewClientset(remembered(`{"annotations":null,"labels":null,"uid":""}`))
		cached := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
		if err := cached.Add(remembered(former)); err != nil {
			t.Fatal(err)
		}
		r.config.Records[class] = state.Classes(kube.CoreV1(), corelisters.NewConfigMapLister(cached), driver.RBD)
		r.declared, r.cached.Volumes = true, 1
		r.pass(t, 1)
		got, err := kube.CoreV1().ConfigMaps(driver.Namespace).Get(t.Context(), driver.RBD.StateConfigMap(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Data["class"]; strings.Contains(text, `"uid":""`) {
			t.Errorf("%s: the class went, and is not remembered: %s", name, text)
		}
	}
}

// TestForgottenMeanwhile: who sees a class forgets what it had; between the look at what is remembered and the end of the class,
// that would be for good.
func TestForgottenMeanwhile(t *testing.T) {
	r := newRig(t)
	r.record.class = state.Class{UID: "uid", Annotations: map[string]string{"users": "annotation"}}
	r.client.PrependReactor("delete", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) {
		if r.config.Remembering.TryLock() {
			defer r.config.Remembering.Unlock()
			r.record.class = state.Class{}
		}
		return false, nil, nil
	})
	r.declared, r.cached.Volumes = true, 1
	r.pass(t, 1)
	if r.record.class.Empty() || slices.Contains(r.there(t), class) {
		t.Errorf("%v is remembered of a class that is gone", r.record.class)
	}
	if !r.config.Remembering.TryLock() {
		t.Error("nobody can forget anything any more")
	}
}

// TestForeign: what is somebody else's stays, and keeps nothing else.
func TestForeign(t *testing.T) {
	r := newRig(t)
	for _, of := range []Object{{Kind: "StorageClass", Name: driver.RBD.StorageClass}, {Kind: "CSIDriver", Name: driver.RBD.Name}} {
		foreign := live(served(of.Kind), of.Kind, "", of.Name, "app", "helm")
		foreign.SetAnnotations(nil)
		if _, err := r.client.Resource(served(of.Kind)).Update(t.Context(), foreign, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.endPods(t)
	r.declared = true
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	for _, name := range []string{class, "CSIDriver " + driver.RBD.Name} {
		if !slices.Contains(r.there(t), name) {
			t.Errorf("%s of somebody else was removed", name)
		}
	}
	if !r.record.class.Empty() {
		t.Errorf("remembered %+v", r.record.class)
	}
}

// TestOptIn: rights are used while they are held, and given back last.
func TestOptIn(t *testing.T) {
	for name, bound := range map[string]bool{"Bound": true, "NotBound": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			binding := Object{Kind: "ClusterRoleBinding", Name: "modules", Mine: driver.RBD.Owns}
			policy := Object{Kind: "ValidatingAdmissionPolicy", Name: "images", Mine: driver.RBD.Owns}
			add := func(o Object) {
				if err := r.client.Tracker().Add(live(served(o.Kind), o.Kind, "", o.Name)); err != nil {
					t.Fatal(err)
				}
			}
			if bound {
				add(binding)
				add(policy)
			}
			r.config.Objects.OptIn = []OptIn{{Binding: binding, Objects: []Object{policy}}}
			r.controller = New(r.config)
			r.endPods(t)
			r.declared = true
			r.pass(t, 12)
			r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
			var deleted []string
			for _, a := range r.client.Actions() {
				if a.GetResource() == served(policy.Kind) && !bound {
					t.Errorf("refused: %s", a.GetVerb())
				}
				if d, ok := a.(clienttesting.DeleteAction); ok && (d.GetName() == binding.Name || d.GetName() == policy.Name) {
					deleted = append(deleted, d.GetName())
				}
			}
			if want := []string{"images", "modules"}; bound && !slices.Equal(deleted, want) || !bound && deleted != nil {
				t.Errorf("deleted %q", deleted)
			}
		})
	}
}

// TestRetired: what a former version has made needs no operator that was Managed in between.
func TestRetired(t *testing.T) {
	r := newRig(t)
	retired := Object{Kind: "ClusterRoleBinding", Name: "retired"}
	if err := r.client.Tracker().Add(live(served(retired.Kind), retired.Kind, "", retired.Name)); err != nil {
		t.Fatal(err)
	}
	r.config.Objects.Retired = []Object{retired}
	r.controller = New(r.config)
	r.endPods(t)
	r.declared = true
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	if slices.Contains(r.there(t), retired.String()) {
		t.Errorf("%s stays", retired)
	}
}

// served is the resource of a kind on an API server that has all at v1.
func served(kind string) schema.GroupVersionResource {
	of, _ := resource(kind, func(string) []string { return []string{"v1"} })
	return of
}
