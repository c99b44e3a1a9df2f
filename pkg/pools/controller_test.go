package pools

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestOwnPoolIsMadeOnce(t *testing.T) {
	r := newRig(t, driver.RBD, nil)
	want := ceph.Placement{FSID: r.fsid(), Pool: "infra-rbd"}
	for range 3 {
		r.later(t)
		if r.place() != want || ceph.Placement(r.record.place) != want {
			t.Fatalf("got %+v, recorded %+v, want %+v", r.place(), r.record.place, want)
		}
	}
	r.expect(t, "made", condition.AsExpected)
	writes := map[string]int{"osd pool create": 1, "osd pool application enable": 1, "osd pool application set": 2}
	if diff := cmp.Diff(writes, r.ceph.Writes()); diff != "" {
		t.Errorf("writes to Ceph (-want +got):\n%s", diff)
	}
	if r.record.saves != 1 || r.operator.Writes() != 1 {
		t.Errorf("got %d records and %d condition writes, want one of each", r.record.saves, r.operator.Writes())
	}
}

// TestClaimComesFirst: a driver that runs has its right to a new pool by the claim.
func TestClaimComesFirst(t *testing.T) {
	tests := map[string]struct {
		reason      string
		driver      driver.Driver
		unprotected bool
		denied      []string
		want        map[string]string
	}{
		"RBD":         {"the pool is usable as soon as the class names it", driver.RBD, false, nil, map[string]string{"infra-rbd": "in-use"}},
		"CephFS":      {"all pools of the filesystem", driver.CephFS, false, nil, map[string]string{"a-data": "in-use", "a-metadata": "in-use"}},
		"Unprotected": {"the right is needed all the same", driver.RBD, true, nil, map[string]string{"infra-rbd": "unprotected"}},
		"Denied":      {"rights by name must do", driver.RBD, false, []string{"osd pool application set"}, map[string]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.driver, tc.denied)
			r.ceph.AddFileSystem("a", true)
			if tc.unprotected {
				r.settings.PoolProtection = driver.PoolsUnprotected
			}
			claimed := func() map[string]string {
				out := map[string]string{}
				for _, p := range r.ceph.Pools() {
					if value := p.Metadata[tc.driver.Kind][driver.ClaimKey("infra", tc.driver.Kind)]; value != "" {
						out[p.Name] = value
					}
				}
				return out
			}
			var before map[string]string
			r.record.saving = func() { before = claimed() }
			r.sync(t)
			if diff := cmp.Diff(tc.want, before); diff != "" || r.place() == (ceph.Placement{}) {
				t.Errorf("%s: place %+v, claims before it was known (-want +got):\n%s", tc.reason, r.place(), diff)
			}
		})
	}
}

func TestIdleAsksOnceAMinute(t *testing.T) {
	for _, d := range driver.All {
		r := newRig(t, d, nil)
		r.ceph.AddFileSystem("a", true)
		r.sync(t)
		// The record of the choice is news once.
		r.sync(t)
		first := r.client.reads
		for range 5 {
			r.sync(t)
		}
		if r.client.reads != first {
			t.Errorf("%s: a wake-up without news asked Ceph", d.Kind)
		}
		r.later(t)
		if r.client.reads != first+1 {
			t.Errorf("%s: a minute later %d commands were sent, want 1", d.Kind, r.client.reads-first)
		}
		if r.client.groups > 1 {
			t.Errorf("%s: the mgr was asked for the group %d times, want once", d.Kind, r.client.groups)
		}
	}
}

func TestStickiness(t *testing.T) {
	const fsid = "f"
	attributes := map[string]string{"clusterID": fsid, "pool": "old"}
	foreign := ourClass(driver.RBD, attributes)
	foreign.Labels = nil
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		record  string
		want    string
	}{
		"Class":        {reason: "the class that exists already", objects: []runtime.Object{ourClass(driver.RBD, attributes)}, want: "old"},
		"Record":       {reason: "the class was deleted", record: "old", want: "old"},
		"Volumes":      {reason: "class and record were deleted", objects: []runtime.Object{volume(driver.RBD, "pv", attributes)}, want: "old"},
		"OtherVolumes": {reason: "another driver's volumes say nothing", objects: []runtime.Object{volume(driver.CephFS, "pv", attributes)}, want: "infra-rbd"},
		"ForeignClass": {reason: "somebody else's class says nothing", objects: []runtime.Object{foreign}, want: "infra-rbd"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, driver.RBD, nil, tc.objects...)
			r.ceph.SetFSID(fsid)
			r.ceph.AddPool(ceph.Pool{Name: "old", Applications: []string{"rbd"}})
			r.ceph.AddPool(ceph.Pool{Name: "newer", Applications: []string{"rbd"}})
			r.config.Cluster.Set(ceph.Cluster{FSID: fsid})
			if tc.record != "" {
				r.record.place, r.record.known = state.Placement{FSID: fsid, Pool: tc.record}, true
			}
			r.sync(t)
			if got := r.place().Pool; got != tc.want {
				t.Errorf("%s: got pool %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestRestartWithoutCeph(t *testing.T) {
	r := newRig(t, driver.RBD, nil, ourClass(driver.RBD, map[string]string{"clusterID": "f", "pool": "old"}))
	r.connected = false
	r.config.Cluster.Clear()
	r.sync(t)
	if want := (ceph.Placement{FSID: "f", Pool: "old"}); r.place() != want {
		t.Errorf("got %+v, want the class's %+v", r.place(), want)
	}
	r.expect(t, "an outage is pkg/connection's to tell", "")
}

func TestUnreadableRecordGuessesNoGroup(t *testing.T) {
	r := newRig(t, driver.CephFS, nil, ourClass(driver.CephFS, map[string]string{"clusterID": "f", "fsName": "a"}))
	r.config.Cluster.Clear()
	r.record.fail = errors.New("boom")
	r.sync(t)
	if place, published := r.controller.Placement.Get(); published {
		t.Errorf("published %+v, whose group may lose every volume of the recorded one", place)
	}
}

func TestOutageChangesNothing(t *testing.T) {
	r := newRig(t, driver.RBD, nil)
	r.sync(t)
	before := r.place()
	r.ceph.Stop()
	r.later(t)
	r.expect(t, "an outage is pkg/connection's to tell", condition.AsExpected)
	if r.place() != before {
		t.Errorf("got %+v, want %+v as before", r.place(), before)
	}
	r.ceph.Start()
	reads := r.client.reads
	r.sync(t)
	if r.client.reads == reads {
		t.Error("after an outage the question is put again at once")
	}
}

func TestClosedGateOnlyAsksForFilesystems(t *testing.T) {
	rbd := newRig(t, driver.RBD, nil)
	rbd.open = false
	rbd.sync(t)
	if rbd.client.reads != 0 || len(rbd.ceph.Writes()) != 0 {
		t.Error("a driver that is not deployed has no business with pools")
	}
	cephfs := newRig(t, driver.CephFS, nil)
	cephfs.open = false
	cephfs.sync(t)
	if got, known := cephfs.config.Filesystem.Get(); !known || got {
		t.Errorf("got filesystem %v, known %v, want none", got, known)
	}
	cephfs.ceph.AddFileSystem("a", true)
	cephfs.clock.SetTime(cephfs.clock.Now().Add(soonAgain))
	cephfs.sync(t)
	if got, _ := cephfs.config.Filesystem.Get(); !got {
		t.Error("a filesystem that appears is not seen soon")
	}
	if len(cephfs.ceph.Writes()) != 0 {
		t.Errorf("wrote to Ceph: %v", cephfs.ceph.Writes())
	}
	cephfs.open = true
	cephfs.sync(t)
	if want := (ceph.Placement{FSID: cephfs.fsid(), Filesystem: "a", SubvolumeGroup: "csi"}); cephfs.place() != want {
		t.Errorf("the opened gate is no new question: got %+v, want %+v", cephfs.place(), want)
	}
}

// TestClosedGateEndsTrouble: a driver that was removed would be Degraded for ever.
func TestClosedGateEndsTrouble(t *testing.T) {
	for _, d := range []driver.Driver{driver.RBD, driver.CephFS} {
		r := newRig(t, d, nil)
		status := func() operatorv1.ConditionStatus { return r.operator.Condition(condition.PoolsDegraded).Status }
		r.settings = driver.Settings{Pool: "none", Filesystem: "none"}
		r.sync(t)
		r.clock.SetTime(r.clock.Now().Add(doubt))
		r.sync(t)
		if status() != operatorv1.ConditionTrue {
			t.Fatalf("%s: there is no such place", d.Name)
		}
		r.open, r.connected = false, false
		r.sync(t)
		if status() != operatorv1.ConditionTrue {
			t.Errorf("%s: the gate has not decided yet", d.Name)
		}
		r.closed = true
		r.sync(t)
		if status() != operatorv1.ConditionFalse {
			t.Errorf("%s: what is not deployed needs no place", d.Name)
		}
		r.open, r.connected, r.closed = true, true, false
		r.sync(t)
		r.clock.SetTime(r.clock.Now().Add(doubt))
		r.sync(t)
		if status() != operatorv1.ConditionTrue {
			t.Errorf("%s: it is deployed again, and there is no place still", d.Name)
		}
	}
}

// newRigWithoutPool has told that the pool of the settings does not exist.
func newRigWithoutPool(t *testing.T, pool string) *rig {
	t.Helper()
	r := newRig(t, driver.RBD, nil)
	r.settings = driver.Settings{Pool: pool}
	r.sync(t)
	r.clock.SetTime(r.clock.Now().Add(doubt))
	r.sync(t)
	r.expect(t, "there is no such pool", condition.NoPool)
	return r
}

// TestTroubleEndsSoon: a mgr that was slow to load its modules, or an MDS that has come, is not told of for a minute more.
func TestTroubleEndsSoon(t *testing.T) {
	r := newRigWithoutPool(t, "late")
	r.ceph.AddPool(ceph.Pool{Name: "late", Applications: []string{"rbd"}})
	r.clock.SetTime(r.clock.Now().Add(soonAgain))
	r.sync(t)
	r.expect(t, "it is there", condition.AsExpected)
}

// TestUnmanagedHasNoTrouble: who mends something while the driver is Unmanaged would be told of it for ever.
func TestUnmanagedHasNoTrouble(t *testing.T) {
	r := newRigWithoutPool(t, "none")
	r.operator.SetState(operatorv1.Unmanaged)
	r.sync(t)
	r.expect(t, "nothing is wanted of Ceph any more", condition.AsExpected)
	r.operator.SetState(operatorv1.Managed)
	r.sync(t)
	r.clock.SetTime(r.clock.Now().Add(doubt))
	r.sync(t)
	r.expect(t, "it is wanted again, and there is still none", condition.NoPool)
}

// TestUserForBlockOnly: many administrators give out users with the profile rbd alone.
func TestUserForBlockOnly(t *testing.T) {
	r := newRig(t, driver.CephFS, []string{"fs dump"})
	r.ceph.AddFileSystem("a", true)
	r.open = false
	r.sync(t)
	if got, known := r.config.Filesystem.Get(); !known || got {
		t.Errorf("a user who may not see filesystems has none: got %v, known %v", got, known)
	}
	if got := r.operator.Condition(condition.PoolsDegraded); got == nil || got.Status != operatorv1.ConditionFalse {
		t.Errorf("a driver that nobody asked for is not degraded: %+v", got)
	}
}

func TestQuestionThatIsPutTooEarlyIsPutInTime(t *testing.T) {
	r := newRig(t, driver.CephFS, nil)
	r.open = false
	r.sync(t)
	r.clock.SetTime(r.clock.Now().Add(soonAgain - time.Millisecond))
	syncCtx := factory.NewSyncContext("test", r.config.Recorder)
	if err := r.controller.Sync(t.Context(), syncCtx); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(2*time.Second, syncCtx.Queue().ShutDown).Stop()
	if _, ended := syncCtx.Queue().Get(); ended {
		t.Error("until the next resync, a filesystem that appears would go unseen for longer than a minute")
	}
}

func TestUnmanagedWritesNothing(t *testing.T) {
	r := newRig(t, driver.RBD, nil)
	r.operator.SetState(operatorv1.Unmanaged)
	r.sync(t)
	if r.client.reads+len(r.ceph.Writes())+r.record.saves != 0 {
		t.Error("Unmanaged means no word to Ceph")
	}
	r.expect(t, "what an earlier process said is not true for ever", condition.AsExpected)
	r.operator.SetState(operatorv1.Managed)
	r.sync(t)
	r.expect(t, "managed again", condition.AsExpected)
}

func TestWithoutResource(t *testing.T) {
	r := newRig(t, driver.RBD, nil)
	r.config.Operator = conditiontest.Missing()
	r.controller = New(r.config)
	r.sync(t)
	if r.client.reads != 0 {
		t.Error("without a ClusterCSIDriver nothing is done")
	}
}

// TestMendedAtOnce: what could not be read says so until it can be, not until Ceph is asked the next time.
func TestMendedAtOnce(t *testing.T) {
	tests := map[string]struct {
		reason      string
		damage, end func(r *rig)
	}{
		"Record":   {"the ConfigMap was damaged and put back", func(r *rig) { r.record.fail = errors.New("not readable") }, func(r *rig) { r.record.fail = nil }},
		"Settings": {"so were the settings", func(r *rig) { r.wrong = errors.New("not readable") }, func(r *rig) { r.wrong = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, driver.RBD, nil)
			r.sync(t)
			r.sync(t)
			tc.damage(r)
			r.sync(t)
			if c := r.operator.Condition(condition.PoolsDegraded); c == nil || c.Status != operatorv1.ConditionTrue {
				t.Fatalf("%s: while it is unreadable: %+v", tc.reason, c)
			}
			tc.end(r)
			r.sync(t)
			r.expect(t, tc.reason, condition.AsExpected)
		})
	}
}
