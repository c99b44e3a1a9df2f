package gate

import (
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestDecide(t *testing.T) {
	tests := map[string]struct {
		reason     string
		in         Input
		open       bool
		why        string
		mentioning []string
	}{
		"Empty": {
			reason:     "a fresh cluster: the message is the command to run",
			why:        condition.NoCephCluster,
			mentioning: []string{"oc create secret generic ceph-credentials -n openshift-cluster-csi-drivers --from-file=ceph.conf --from-file=keyring"},
		},
		"Removed": {
			reason:     "a person has said so, whatever there is",
			in:         Input{Removed: true, Foreign: true, Deployed: true, Volumes: true, Declared: true},
			why:        condition.Removed,
			mentioning: []string{"DriverRemoved", "Managed"},
		},
		"Declared": {
			reason: "Ceph need not answer for the driver to be deployed",
			in:     Input{Declared: true},
			open:   true,
		},
		"SecretDeletedLater": {
			reason: "what runs goes on running",
			in:     Input{Deployed: true},
			open:   true,
		},
		"VolumesOnly": {
			reason: "volumes need their driver, whatever else is missing",
			in:     Input{Volumes: true, NeedsFilesystem: true},
			open:   true,
		},
		"FilesystemUnknown": {
			reason: "CephFS: once deployed, there would be no way back to NoFilesystem",
			in:     Input{Declared: true, NeedsFilesystem: true},
			why:    condition.WaitingForCeph,
		},
		"FilesystemNone": {
			reason:     "as without a Ceph cluster",
			in:         Input{Declared: true, NeedsFilesystem: true, AskedCeph: true},
			why:        condition.NoFilesystem,
			mentioning: []string{"ceph fs volume create", "openshift-cluster-csi-drivers/ceph-credentials", "allow r"},
		},
		"FilesystemThere": {
			reason: "CephFS can be served",
			in:     Input{Declared: true, NeedsFilesystem: true, AskedCeph: true, Filesystem: true},
			open:   true,
		},
		"FilesystemGone": {
			reason: "deployed once: pkg/pools goes Degraded, nothing is taken away",
			in:     Input{Deployed: true, Declared: true, NeedsFilesystem: true, AskedCeph: true},
			open:   true,
		},
		"FilesystemOfNoInterest": {
			reason: "a driver that needs none ignores the answer",
			in:     Input{Declared: true, AskedCeph: true},
			open:   true,
		},
		"Foreign": {
			reason:     "somebody else serves this driver name",
			in:         Input{Foreign: true, Owner: "Helm release ceph/csi", Declared: true, Volumes: true},
			why:        condition.ForeignCSIDriver,
			mentioning: []string{"rbd.csi.ceph.com", "Helm release ceph/csi", "remove that driver"},
		},
		"ForeignWithoutSecret": {
			reason: "a Secret would change nothing: the foreign driver comes first",
			in:     Input{Foreign: true, Owner: "rook"},
			why:    condition.ForeignCSIDriver,
		},
		"ForeignBesideOurs": {
			reason:     "our workloads have volumes to serve: they stay",
			in:         Input{Foreign: true, Owner: "rook", Deployed: true},
			open:       true,
			why:        condition.ForeignCSIDriver,
			mentioning: []string{"rook", "run beside it"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide(driver.RBD, tc.in)
			if got.Open != tc.open || got.Reason != tc.why {
				t.Fatalf("%s: got open %v, reason %q, want %v, %q", tc.reason, got.Open, got.Reason, tc.open, tc.why)
			}
			if (got.Message == "") != (tc.why == "") {
				t.Errorf("%s: reason %q has message %q", tc.reason, got.Reason, got.Message)
			}
			for _, part := range tc.mentioning {
				if !strings.Contains(got.Message, part) {
					t.Errorf("%s: message %q does not contain %q", tc.reason, got.Message, part)
				}
			}
		})
	}
}

// TestDeployedNeverCloses goes through the whole table.
func TestDeployedNeverCloses(t *testing.T) {
	for bits := range 64 {
		bit := func(n int) bool { return bits&(1<<n) != 0 }
		in := Input{
			Deployed: true, Foreign: bit(0), Volumes: bit(1), Declared: bit(2),
			NeedsFilesystem: bit(3), Filesystem: bit(4), AskedCeph: bit(5),
		}
		if state := decide(driver.CephFS, in); !state.Open {
			t.Errorf("closed although deployed: %+v gives %+v", in, state)
		}
	}
}
