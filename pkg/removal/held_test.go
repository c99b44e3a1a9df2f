package removal

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/controller/controllertest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// newHolders reads what the fakes have.
func newHolders(crds ...runtime.Object) (Holders, *fake.Clientset, *dynamicfake.FakeDynamicClient) {
	kube, dynamic := controllertest.Clients(crds...)
	return Holders{Env: ctrl.Env{Driver: driver.RBD, Kube: kube, Dynamic: dynamic}}, kube, dynamic
}

func contentOf(driverName string) *unstructured.Unstructured {
	return ofKind("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", driverName)
}

func groupOf(driverName string) *unstructured.Unstructured {
	return ofKind(controllertest.GroupSnapshots.GroupVersion().String(), "VolumeGroupSnapshotContent", driverName)
}

func ofKind(version, kind, driverName string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version, "kind": kind,
		"metadata": map[string]any{"name": "of-" + driverName}, "spec": map[string]any{"driver": driverName},
	}}
}

// hold has one of each kind for a driver.
func hold(t *testing.T, kube *fake.Clientset, driverName string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "of-" + driverName}
	volume := &corev1.PersistentVolume{ObjectMeta: meta}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverName}
	attachment := &storagev1.VolumeAttachment{ObjectMeta: meta, Spec: storagev1.VolumeAttachmentSpec{Attacher: driverName}}
	for _, o := range []runtime.Object{volume, attachment} {
		if err := kube.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLooksForWhatIsHeld(t *testing.T) {
	there := controllertest.SnapshotCRD("Established", "True")
	groups := controllertest.CRD(controllertest.GroupSnapshots, "Established", "True")
	refused := errors.New("later")
	tests := map[string]struct {
		why     string
		dynamic []runtime.Object
		holders []string
		fails   string
		want    Held
		err     string
	}{
		"Nothing":   {why: "the driver may go", dynamic: []runtime.Object{there}},
		"Others":    {why: "they are another driver's", dynamic: []runtime.Object{there, contentOf(driver.CephFS.Name)}, holders: []string{driver.CephFS.Name, "ebs.csi.aws.com"}},
		"Ours":      {why: "each is counted", dynamic: []runtime.Object{there, contentOf(driver.RBD.Name)}, holders: []string{driver.RBD.Name, driver.CephFS.Name}, want: Held{Volumes: 1, Attachments: 1, Snapshots: 1}},
		"Group":     {why: "its finalizer is taken away by the driver's sidecar alone, also when its snapshots are gone", dynamic: []runtime.Object{there, groups, groupOf(driver.RBD.Name), groupOf(driver.CephFS.Name)}, want: Held{GroupSnapshots: 1}},
		"NoGroup":   {why: "unreadable is not zero", dynamic: []runtime.Object{there, groups}, fails: "volumegroupsnapshotcontents", err: "listing volumegroupsnapshotcontents"},
		"NoCRD":     {why: "without it there are no snapshots", holders: []string{driver.RBD.Name}, want: Held{Volumes: 1, Attachments: 1}},
		"CRDGoing":  {why: "its objects may be unseen", dynamic: []runtime.Object{controllertest.SnapshotCRD("Established", "True", "Terminating", "True")}, err: "is being removed"},
		"CRDComing": {why: "its objects may be unseen", dynamic: []runtime.Object{controllertest.SnapshotCRD()}, err: "not established"},
		"NoVolumes": {why: "unreadable is not zero", dynamic: []runtime.Object{there}, fails: "persistentvolumes", err: "listing PersistentVolumes"},
		"NoAttach":  {why: "unreadable is not zero", dynamic: []runtime.Object{there}, fails: "volumeattachments", err: "listing VolumeAttachments"},
		"NoContent": {why: "unreadable is not zero", dynamic: []runtime.Object{there}, fails: "volumesnapshotcontents", err: "listing volumesnapshotcontents"},
		"NoCRDList": {why: "unreadable is not absent", dynamic: []runtime.Object{there}, fails: "customresourcedefinitions", err: "reading CustomResourceDefinition"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			h, kube, dynamic := newHolders(tc.dynamic...)
			for _, name := range tc.holders {
				hold(t, kube, name)
			}
			for _, fake := range []*clienttesting.Fake{&kube.Fake, &dynamic.Fake} {
				fake.PrependReactor("list", tc.fails, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
			}
			got, err := h.Look(t.Context())
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s: got %v, want %q", tc.why, err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); tc.err == "" && diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}

// TestCRDGoesMeanwhile: the list was that of a CRD which was already on its way out.
func TestCRDGoesMeanwhile(t *testing.T) {
	h, _, dynamic := newHolders(controllertest.SnapshotCRD("Established", "True"))
	dynamic.PrependReactor("list", "volumesnapshotcontents", func(clienttesting.Action) (bool, runtime.Object, error) {
		return false, nil, dynamic.Tracker().Delete(ctrl.CRDs, "", ctrl.SnapshotContents.GroupResource().String())
	})
	if got, err := h.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "come or gone") {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCountsAllPages(t *testing.T) {
	h, kube, _ := newHolders()
	ours := corev1.PersistentVolume{}
	ours.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver.RBD.Name}
	pages := map[string]*corev1.PersistentVolumeList{
		"":     {ListMeta: metav1.ListMeta{Continue: "more"}, Items: []corev1.PersistentVolume{{}, ours}},
		"more": {Items: []corev1.PersistentVolume{ours}},
	}
	kube.PrependReactor("list", "persistentvolumes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		options := a.(clienttesting.ListActionImpl).ListOptions
		if options.ResourceVersion != "" {
			t.Errorf("a cache may answer for %q", options.ResourceVersion)
		}
		return true, pages[options.Continue], nil
	})
	if got, err := h.volumes(context.Background()); got != 2 || err != nil {
		t.Errorf("got %d, %v", got, err)
	}
}
