package classes

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestKilledWhileGroupClassIsMadeAnew: the process ends between deletion and creation, and a new one
// goes on.
func TestKilledWhileGroupClassIsMadeAnew(t *testing.T) {
	for name, offered := range map[string]bool{"Offered": true, "NotOffered": false} {
		t.Run(name, func(t *testing.T) { killedWhileGroupClassIsMadeAnew(t, offered) })
	}
}

// killedWhileGroupClassIsMadeAnew is with a class that would be made if there was none, or that would not.
func killedWhileGroupClassIsMadeAnew(t *testing.T, offered bool) {
	_, group := resources()
	before := existing(t, assets.VolumeGroupSnapshotClass, "groupsnapshot.storage.k8s.io/v1beta2", driver.RBD.Name, driver.RBD.OperatorName())
	before.SetUID("old")
	before.SetAnnotations(map[string]string{"groupsnapshot.storage.kubernetes.io/is-default-class": "false", "user.example.com/a": "b"})
	r := newSnapshotsRig(t, before)
	record := &memory{}
	r.config.GroupRecord, r.config.GroupSnapshots = record, func() bool { return offered }
	killed := true
	r.client.PrependReactor("create", group.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return killed, nil, errKilled })
	restart := func() {
		var err error
		if r.controller, err = NewSnapshots(r.config); err != nil {
			t.Fatal(err)
		}
	}
	restart()
	if err := r.controller.Sync(t.Context(), r.syncCtx); !errors.Is(err, errKilled) || r.class(t, group) != nil {
		t.Fatalf("the class was not made anew: %v", err)
	}
	killed = false
	restart()
	r.settle(t, "it is created", func() bool { return r.class(t, group) != nil })
	after := r.class(t, group)["metadata"].(map[string]any)
	want := map[string]any{"groupsnapshot.storage.kubernetes.io/is-default-class": "false", "user.example.com/a": "b"}
	if diff := cmp.Diff(want, after["annotations"]); diff != "" {
		t.Errorf("what users gave it (-want +got):\n%s", diff)
	}
	labels := map[string]any{"user": "label", driver.ManagedByLabel: driver.RBD.OperatorName()}
	if diff := cmp.Diff(labels, after["labels"]); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	r.settle(t, "nothing is remembered: a class that is deleted later would come back with it", func() bool {
		return record.class != nil && record.class.UID == ""
	})
	if record.writes != 2 {
		t.Errorf("%d writes of the record", record.writes)
	}
}

// TestGroupClassThatStays costs no write of the record.
func TestGroupClassThatStays(t *testing.T) {
	r := newSnapshotsRig(t)
	_, group := resources()
	r.settle(t, "it is made", func() bool { return r.class(t, group) != nil })
	r.settle(t, "it is known", func() bool { return r.controller.Sync(t.Context(), r.syncCtx) == nil })
	if record := r.config.GroupRecord.(*memory); record.class != nil {
		t.Errorf("recorded %+v", record.class)
	}
}
