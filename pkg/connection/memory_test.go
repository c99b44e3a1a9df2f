package connection

import (
	"slices"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Unmanaged: Ceph is read and conditions are written, nothing else.
func TestUnmanaged(t *testing.T) {
	f := newFixture(t)
	f.operator.spec.ManagementState = operatorv1.Unmanaged
	connected(f)
	f.wantCondition("Unmanaged", "False/AsExpected")
	if n, events := f.writes(), len(f.recorder.Events()); n != 0 || events != 0 || !f.alive() {
		t.Errorf("Unmanaged: %d writes, %d events, alive %t", n, events, f.alive())
	}
	f.operator.spec.ManagementState = operatorv1.Managed
	f.pass(pollInterval)
	if _, found, err := f.conn.record.Load(); err != nil || !found {
		t.Errorf("Managed again: recorded %t, %v", found, err)
	}
}

// What could not be recorded is remembered while the process lives.
func TestUnmanagedRemembers(t *testing.T) {
	f := newFixture(t)
	f.operator.spec.ManagementState = operatorv1.Unmanaged
	connected(f)
	own := f.admin()
	f.ceph = cephtest.New()
	f.ceph.SetFSID(otherFSID)
	f.secret(map[string][]byte{"ceph.conf": f.ceph.Conf(), "keyring": f.ceph.Keyring("admin")})
	f.sync()
	f.wantCondition("another Ceph cluster", "True/WrongCluster", cephtest.FSID, otherFSID)
	f.secret(own)
	f.sync()
	f.wantCondition("the first one again", "False/AsExpected")
	f.wanted = true
	f.secret(nil)
	f.sync()
	f.wantCondition("gone", "True/CredentialsMissing")
}

// A monmap without mons would cut off what runs.
func TestNeverPublishesNoMons(t *testing.T) {
	f := newFixture(t)
	connected(f)
	f.ceph.RemoveMon("a")
	f.pass(pollInterval)
	if published, _ := f.conn.Cluster.Get(); len(published.MonMap.Mons) != 1 {
		t.Errorf("published %v", published.MonMap)
	}
}

func TestTarget(t *testing.T) {
	declared := ceph.Address{Protocol: ceph.V2, IP: "10.0.0.1", Port: 3300}
	last := ceph.Address{Protocol: ceph.V2, IP: "10.0.0.2", Port: 3300}
	recorded := state.Cluster{FSID: cephtest.FSID, MonHost: []string{declared.String(), last.String()}}
	tests := map[string]struct {
		reason   string
		fsid     string
		named    string
		recorded state.Cluster
		want     []ceph.Address
	}{
		"First":      {reason: "nothing is recorded", want: []ceph.Address{declared}},
		"Undeclared": {reason: "the Secret may lead to the recorded cluster", recorded: recorded, want: []ceph.Address{declared, last}},
		"Same":       {reason: "the mons may all have been replaced; librados must not see one twice", fsid: cephtest.FSID, named: cephtest.FSID, recorded: recorded, want: []ceph.Address{declared, last}},
		"Declared":   {reason: "a list with mons of two clusters leads to either", fsid: otherFSID, recorded: recorded, want: []ceph.Address{declared}},
		"Named":      {reason: "the move is wanted", named: otherFSID, recorded: recorded, want: []ceph.Address{declared}},
		"Garbage":    {reason: "a record edited by hand is no reason to stop", recorded: state.Cluster{FSID: cephtest.FSID, MonHost: []string{"no mon!"}}, want: []ceph.Address{declared}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			source := ceph.Source{Monitors: []ceph.Address{declared}, FSID: tc.fsid}
			got := target(source, identity{world: world{driver: driver.RBD, named: tc.named, recorded: tc.recorded}})
			if !slices.Equal(got.Monitors, tc.want) || got.FSID != "" {
				t.Errorf("%s: %v with fsid %q, want %v without", tc.reason, got.Monitors, got.FSID, tc.want)
			}
		})
	}
}
