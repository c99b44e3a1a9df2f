package driver

import "testing"

func TestOffersGroupSnapshots(t *testing.T) {
	tests := map[string]struct {
		reason      string
		image       string
		rbd, cephFS bool
	}{
		"Current":  {"all that the arguments are for", "quay.io/cephcsi/cephcsi:v3.14.0", true, true},
		"First":    {"RBD began later", "quay.io/cephcsi/cephcsi:v3.12.2", false, true},
		"Old":      {"neither does", "cephcsi:v3.10.2", false, false},
		"Minor":    {"a tag that follows a release", "mirror:5000/cephcsi:3.12", false, true},
		"Suffix":   {"a build of a release", "mirror:5000/cephcsi:v3.12.1-hotfix", false, true},
		"Both":     {"tag and digest", "cephcsi:v3.12.2@sha256:0", false, true},
		"Digest":   {"a payload does not tell", "quay.io/openshift/ceph-csi-driver@sha256:310af", true, true},
		"Canary":   {"a branch does not tell", "quay.io/cephcsi/cephcsi:canary", true, true},
		"Port":     {"a port is no release", "mirror:3.1/cephcsi", true, true},
		"NextMain": {"nobody knows", "cephcsi:v4.0.0", true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if rbd, cephFS := RBD.OffersGroupSnapshots(tc.image), CephFS.OffersGroupSnapshots(tc.image); rbd != tc.rbd || cephFS != tc.cephFS {
				t.Errorf("%s: RBD %t, CephFS %t, want %t, %t", tc.reason, rbd, cephFS, tc.rbd, tc.cephFS)
			}
		})
	}
}
