package rights

import (
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestOperands: the sidecars run in the controllers; the nodes' pods are on machines whose owners read what their
// accounts may read.
func TestOperands(t *testing.T) {
	all, err := Operands()
	if err != nil || len(all) != 4 {
		t.Fatalf("%d accounts: %v", len(all), err)
	}
	for _, a := range all {
		want := map[string]int{driver.RBD.ControllerName() + "-sa": len(assets.SharedRoles()), driver.CephFS.ControllerName() + "-sa": len(assets.SharedRoles())}[a.Name]
		if len(a.Shared) != want || len(a.Held) == 0 {
			t.Errorf("%s has %d shared roles, want %d, and %d rights of its own", a.Name, len(a.Shared), want, len(a.Held))
		}
		for _, line := range a.Compare(nil) {
			if strings.Contains(line, "lacks") {
				t.Error("a reason for what is not held:", line)
			}
		}
	}
}
