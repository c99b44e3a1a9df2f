package proof

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/controller/controllertest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// newReader reads what the fakes have, in lists with resourceVersions.
func newReader(crds ...runtime.Object) (reading, *fake.Clientset, *dynamicfake.FakeDynamicClient) {
	kube, dynamic := controllertest.Clients(crds...)
	return reading{Reader: Reader{Driver: driver.RBD, Kube: kube, Dynamic: dynamic}}, kube, dynamic
}

func TestLookNeedsTheSnapshotCRD(t *testing.T) {
	going := controllertest.SnapshotCRD("Established", "True")
	now := metav1.NewTime(time.Unix(1, 0))
	going.SetDeletionTimestamp(&now)
	tests := map[string]struct {
		crds []runtime.Object
		want string
	}{
		"Established":    {[]runtime.Object{controllertest.SnapshotCRD("NamesAccepted", "True", "Established", "True")}, ""},
		"Absent":         {nil, "does not exist"},
		"NotEstablished": {[]runtime.Object{controllertest.SnapshotCRD("Established", "False")}, "not established"},
		"NoStatus":       {[]runtime.Object{controllertest.SnapshotCRD()}, "not established"},
		"Terminating":    {[]runtime.Object{controllertest.SnapshotCRD("Established", "True", "Terminating", "True")}, "is being removed"},
		"Deleted":        {[]runtime.Object{going}, "is being removed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, _, _ := newReader(tc.crds...)
			err := r.served(t.Context())
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	r, _, dynamic := newReader(controllertest.SnapshotCRD("Established", "True"))
	dynamic.PrependReactor("list", "customresourcedefinitions", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewTooManyRequests("later", 1)
	})
	if err := r.served(t.Context()); err == nil {
		t.Error("a list that failed passes for a CRD that is there")
	}
}

func TestLookReadsAllPages(t *testing.T) {
	r, kube, dynamic := newReader()
	pv := func(handle string) corev1.PersistentVolume {
		return corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: driver.RBD.Name, VolumeHandle: handle, VolumeAttributes: map[string]string{"pool": handle}},
		}}}
	}
	pages := []*corev1.PersistentVolumeList{
		{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}, Items: []corev1.PersistentVolume{pv("a"), pv("b")}},
		{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.PersistentVolume{pv("c")}},
	}
	var asked []string
	kube.PrependReactor("list", "persistentvolumes", func(a clienttesting.Action) (bool, runtime.Object, error) {
		options := a.(clienttesting.ListActionImpl).ListOptions
		asked = append(asked, options.Continue+"@"+options.ResourceVersion)
		return true, pages[len(asked)-1], nil
	})
	kube.PrependReactor("list", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &storagev1.StorageClassList{ListMeta: metav1.ListMeta{ResourceVersion: "8"}}, nil
	})
	dynamic.PrependReactor("list", "volumesnapshotcontents", func(clienttesting.Action) (bool, runtime.Object, error) {
		handle := "0001-0024-" + cephtest.FSID + "-0000000000000005-6e696bba-064f-11ec-a251-0242ac110002"
		return true, &unstructured.UnstructuredList{
			Object: map[string]any{"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotContentList", "metadata": map[string]any{"resourceVersion": "9"}},
			Items: []unstructured.Unstructured{{Object: map[string]any{
				"spec": map[string]any{"driver": driver.RBD.Name}, "status": map[string]any{"snapshotHandle": handle},
			}}},
		}, nil
	})
	for _, step := range []func(context.Context) error{r.volumes, r.classes, r.contents} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"@", "more@"}, asked); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
	volumes, snapshots := 0, 0
	for _, used := range r.look.Usage {
		for _, place := range used.Places {
			volumes, snapshots = volumes+place.Volumes, snapshots+place.Snapshots
		}
	}
	if r.look.Volumes != 3 || volumes != 3 || snapshots != 1 {
		t.Errorf("%d PersistentVolumes, %d volumes and %d snapshots in use", r.look.Volumes, volumes, snapshots)
	}
}

func TestLookFailsWithAList(t *testing.T) {
	r, kube, _ := newReader()
	kube.PrependReactor("list", "persistentvolumes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(context.DeadlineExceeded)
	})
	if err := r.volumes(t.Context()); err == nil {
		t.Error("unreadable passes for empty")
	}
}
