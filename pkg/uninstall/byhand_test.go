package uninstall

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestByHand: what is printed is pasted into a shell, and Ceph takes nearly any name for a pool. What an operator writes only
// to remove it again is left out.
func TestByHand(t *testing.T) {
	claim := driver.ClaimKey(infra, driver.RBD.Kind)
	for name, tc := range map[string]struct {
		reason, pool, quoted string
		applications         []string
		holds                string
	}{
		"Quoted":    {"a shell takes it as it stands", "a $(b)", "'a $(b)'", []string{"rbd"}, "rbd"},
		"Misplaced": {"a claim that was left under another application goes, too", "p", "p", []string{"foo", "rbd"}, "foo"},
	} {
		t.Run(name, func(t *testing.T) {
			client := &rehearsal{unsaid: map[place]bool{}, pools: []ceph.Pool{{ID: 1, Name: tc.pool, Applications: tc.applications, NoDelete: true, Metadata: map[string]map[string]string{
				tc.holds: {driver.ProtectionKey: "set-by-an-operator", claim: driver.ClaimInUse},
			}}}}
			got := byHand(t.Context(), client, infra)
			want := []string{
				"ceph osd pool set " + tc.quoted + " nodelete false",
				"ceph osd pool application rm " + tc.quoted + " " + tc.holds + " " + driver.ProtectionKey,
				"ceph osd pool application rm " + tc.quoted + " " + tc.holds + " " + claim,
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got, want)
			}
		})
	}
}
