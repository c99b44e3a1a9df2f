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
	client := &rehearsal{unsaid: map[place]bool{}, pools: []ceph.Pool{{ID: 1, Name: "a $(b)", Applications: []string{"rbd"}, NoDelete: true, Metadata: map[string]map[string]string{
		"rbd": {driver.ProtectionKey: "set-by-an-operator", claim: driver.ClaimInUse},
	}}}}
	got := byHand(t.Context(), client, infra)
	want := []string{
		"ceph osd pool set 'a $(b)' nodelete false",
		"ceph osd pool application rm 'a $(b)' rbd " + driver.ProtectionKey,
		"ceph osd pool application rm 'a $(b)' rbd " + claim,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestByHandMisplaced: a claim that was left under another application goes, too.
func TestByHandMisplaced(t *testing.T) {
	claim := driver.ClaimKey(infra, driver.RBD.Kind)
	client := &rehearsal{unsaid: map[place]bool{}, pools: []ceph.Pool{{ID: 1, Name: "p", Applications: []string{"foo", "rbd"}, NoDelete: true, Metadata: map[string]map[string]string{
		"foo": {driver.ProtectionKey: "set-by-an-operator", claim: driver.ClaimInUse},
	}}}}
	got := byHand(t.Context(), client, infra)
	want := []string{
		"ceph osd pool set p nodelete false",
		"ceph osd pool application rm p foo " + driver.ProtectionKey,
		"ceph osd pool application rm p foo " + claim,
	}
	slices.Sort(got[1:])
	slices.Sort(want[1:])
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
