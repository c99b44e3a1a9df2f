package operator

import (
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestTakenFor: controllers that know nothing of the removal go on as they should meanwhile.
func TestTakenFor(t *testing.T) {
	tests := map[string]struct {
		why                      string
		declared, decided, taken operatorv1.ManagementState
		supported                operatorv1.ManagementState
	}{
		"Managed":   {"nothing is removed", operatorv1.Managed, operatorv1.Removed, operatorv1.Managed, operatorv1.Managed},
		"Unmanaged": {"nothing is removed", operatorv1.Unmanaged, operatorv1.Managed, operatorv1.Unmanaged, operatorv1.Unmanaged},
		"Started":   {"nobody has looked yet what needs the driver", operatorv1.Removed, "", operatorv1.Removed, operatorv1.Managed},
		"Waiting":   {"volumes need mons and credentials", operatorv1.Removed, operatorv1.Managed, operatorv1.Managed, operatorv1.Managed},
		"Removing":  {"nobody makes again what goes", operatorv1.Removed, operatorv1.Removed, operatorv1.Removed, operatorv1.Managed},
		"Unknown":   {"library-go tells of it", "Missing", operatorv1.Removed, "Missing", "Missing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := newMaybeWithout(finalizable{conditiontest.New(tc.declared)}, driver.RBD, nil, condition.NewBoard(nil, nil))
			client.seen = func() string { return "1" }
			if tc.decided != "" {
				client.removal.Set(tc.decided)
			}
			for range 2 {
				spec, _, _, err := client.GetOperatorState()
				if err != nil || spec.ManagementState != tc.taken {
					t.Errorf("%s: got %s, %v", tc.why, spec.ManagementState, err)
				}
				spec, _, _, err = supported{client}.GetOperatorState()
				if err != nil || spec.ManagementState != tc.supported {
					t.Errorf("%s: its controller in library-go got %s, %v", tc.why, spec.ManagementState, err)
				}
			}
		})
	}
}
