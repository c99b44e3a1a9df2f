package classes

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// TestStorageClassBack: a class that comes back after a long time finds another default.
func TestStorageClassBack(t *testing.T) {
	other := func(value string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "other", Annotations: map[string]string{defaultAnnotation: value}}}
	}
	tests := map[string]struct {
		why         string
		mark, other string
		behind      bool
		want        string
	}{
		"Default": {"as it was", "true", "false", false, "true"},
		"Second":  {"claims would go to the newest default from one day to the other", "true", "true", false, "false"},
		"Neither": {"as it was", "false", "true", false, "false"},
		"Behind":  {"the cache does not have yet what is remembered", "true", "false", true, "true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorageClass(t, driver.RBD, other(tc.other), &ceph.Placement{FSID: "f", Pool: "p"})
			s.Record = &memory{behind: tc.behind, class: &state.Class{UID: "old", Annotations: map[string]string{defaultAnnotation: tc.mark, "users": "own"}}}
			if err := s.Guard(func(context.Context, factory.SyncContext) error { return nil })(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			got, err := s.Kube.StorageV1().StorageClasses().Get(t.Context(), driver.RBD.StorageClass, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{defaultAnnotation: tc.want, "users": "own"}, got.Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}

// TestSnapshotClassBack: a class of either kind comes back with what users gave it, once.
func TestSnapshotClassBack(t *testing.T) {
	for name, behind := range map[string]bool{"Seen": false, "CacheIsBehind": true} {
		t.Run(name, func(t *testing.T) { checkSnapshotClassBack(t, behind) })
	}
}

func checkSnapshotClassBack(t *testing.T, behind bool) {
	t.Helper()
	snapshot, group := resources()
	r := newSnapshotsRig(t)
	remembered := func(annotation string) *memory {
		return &memory{behind: behind, class: &state.Class{UID: "old", Annotations: map[string]string{annotation: "false", "users": "own"}, Labels: map[string]string{"users": "label"}}}
	}
	const mark, groupMark = "snapshot.storage.kubernetes.io/is-default-class", "groupsnapshot.storage.kubernetes.io/is-default-class"
	records := []*memory{remembered(mark), remembered(groupMark)}
	r.config.Record, r.config.GroupRecord = records[0], records[1]
	var err error
	if r.controller, err = NewSnapshots(r.config); err != nil {
		t.Fatal(err)
	}
	r.settle(t, "they are made", func() bool { return r.class(t, snapshot) != nil && r.class(t, group) != nil })
	for i, of := range []map[string]any{r.class(t, snapshot), r.class(t, group)} {
		metadata := of["metadata"].(map[string]any)
		want := map[string]any{[]string{mark, groupMark}[i]: "false", "users": "own"}
		if diff := cmp.Diff(want, metadata["annotations"]); diff != "" {
			t.Errorf("annotations of %s (-want +got):\n%s", of["kind"], diff)
		}
		labels := map[string]any{"users": "label", driver.ManagedByLabel: driver.RBD.OperatorName()}
		if diff := cmp.Diff(labels, metadata["labels"]); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", of["kind"], diff)
		}
	}
	records[0].behind, records[1].behind = false, false
	r.settle(t, "nothing is remembered any longer", func() bool { return records[0].class.Empty() && records[1].class.Empty() })
}

// TestSecondSnapshotDefault: another class has become the default one of the driver meanwhile.
func TestSecondSnapshotDefault(t *testing.T) {
	const mark = "snapshot.storage.kubernetes.io/is-default-class"
	other := existing(t, assets.VolumeSnapshotClass, "snapshot.storage.k8s.io/v1", driver.RBD.Name, "")
	other.SetName("other")
	other.SetAnnotations(map[string]string{mark: "true"})
	r := newSnapshotsRig(t, other)
	r.config.Record = &memory{class: &state.Class{UID: "old", Annotations: map[string]string{mark: "true", "users": "own"}}}
	var err error
	if r.controller, err = NewSnapshots(r.config); err != nil {
		t.Fatal(err)
	}
	snapshot, _ := resources()
	r.settle(t, "it is made", func() bool { return r.class(t, snapshot) != nil })
	annotations := r.class(t, snapshot)["metadata"].(map[string]any)["annotations"]
	if diff := cmp.Diff(map[string]any{"users": "own"}, annotations); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestSnapshotCacheIsBehind: what is remembered of a class that is gone is not forgotten while the cache has it still.
func TestSnapshotCacheIsBehind(t *testing.T) {
	snapshot, _ := resources()
	for name, gone := range map[string]bool{"Gone": true, "There": false} {
		r := newSnapshotsRig(t)
		quiet := func() bool {
			r.client.ClearActions()
			return r.controller.Sync(t.Context(), r.syncCtx) == nil && len(r.writes()) == 0
		}
		r.settle(t, "made", quiet)
		record := r.config.Record.(*memory)
		record.class = &state.Class{UID: "old", Annotations: map[string]string{"a": "b"}}
		if gone {
			r.client.PrependReactor("list", snapshot.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &unstructured.UnstructuredList{}, nil
			})
		}
		r.settle(t, "looked at", func() bool { return true })
		if record.class.Empty() == gone {
			t.Errorf("%s: %v is remembered", name, record.class)
		}
	}
}
