package pools

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// minutes passes so many of them.
func (r *rig) minutes(t *testing.T, n int) {
	t.Helper()
	for range n {
		r.later(t)
	}
}

// TestLostGroupIsMadeAgain: ceph-csi does not make it, so that no volume could be provisioned.
func TestLostGroupIsMadeAgain(t *testing.T) {
	r := newRig(t, driver.CephFS, nil)
	r.ceph.AddFileSystem("a", true)
	r.sync(t)
	r.ceph.RemoveFileSystem("a")
	r.ceph.AddFileSystem("a", true)
	r.minutes(t, 5)
	if diff := cmp.Diff([]string{"csi"}, r.ceph.Groups("a")); diff != "" {
		t.Errorf("groups of a filesystem that was made anew (-want +got):\n%s", diff)
	}
	if r.client.groups != 2 {
		t.Errorf("the mgr was asked %d times in 5 minutes, want 2", r.client.groups)
	}
}

// TestSilentManager: mgrs fail over, and the group was there a few minutes ago.
func TestSilentManager(t *testing.T) {
	r := newRig(t, driver.CephFS, nil)
	r.ceph.AddFileSystem("a", true)
	r.sync(t)
	r.client.mgr = ceph.ErrTimeout
	r.minutes(t, 6)
	if got := r.operator.Condition(condition.PoolsDegraded); got == nil || got.Status != operatorv1.ConditionFalse {
		t.Errorf("a mgr that is silent for a while degraded what works: %+v", got)
	}
	if r.client.groups != 2 {
		t.Errorf("the silent mgr was asked %d times in 6 minutes, want 2", r.client.groups)
	}
}

// TestNewConnectionIsAskedAtOnce: it may be that of a user who may do more.
func TestNewConnectionIsAskedAtOnce(t *testing.T) {
	r := newRig(t, driver.RBD, nil)
	r.sync(t)
	r.sync(t) // the record of the choice is a new question
	r.client = &counted{Ceph: r.client.Ceph}
	r.sync(t)
	if r.client.reads == 0 {
		t.Error("the same question was not put over a new connection")
	}
}

// TestDoubt: while a standby MDS takes over, nobody has to do anything.
func TestDoubt(t *testing.T) {
	r := newRig(t, driver.CephFS, nil)
	r.ceph.AddFileSystem("a", true)
	r.sync(t)
	r.expect(t, "all is well", condition.AsExpected)
	r.client.noMDS = true
	r.later(t)
	r.expect(t, "a failover takes seconds", condition.AsExpected)
	r.client.noMDS = false
	r.later(t)
	r.client.noMDS = true
	r.later(t)
	r.expect(t, "the first failover is forgotten", condition.AsExpected)
	r.later(t)
	r.expect(t, "this one lasts", condition.NoActiveMDS)
}

// TestModuleIsLoading: a mgr that takes over says for seconds that the module of groups is not loaded.
func TestModuleIsLoading(t *testing.T) {
	loading := &ceph.CommandError{Command: "fs subvolumegroup create", Errno: -int(syscall.EOPNOTSUPP), Status: "Module 'volumes' is not enabled/loaded"}
	r := newRig(t, driver.CephFS, nil)
	r.ceph.AddFileSystem("a", true)
	r.sync(t)
	r.expect(t, "all is well", condition.AsExpected)
	r.client = &counted{Ceph: r.client.Ceph, mgr: loading}
	r.later(t)
	r.expect(t, "a failover takes seconds", condition.AsExpected)
	r.client.mgr = nil
	r.later(t)
	r.expect(t, "it is loaded", condition.AsExpected)
	r.client = &counted{Ceph: r.client.Ceph, mgr: loading}
	r.later(t)
	r.later(t)
	r.expect(t, "this one lasts", condition.SyncError)
}
