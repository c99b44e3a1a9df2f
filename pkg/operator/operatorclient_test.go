package operator

import (
	"context"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

// finalizable completes the fake to the interface of the real client.
type finalizable struct{ *conditiontest.Operator }

func (finalizable) EnsureFinalizer(context.Context, string) error { return nil }
func (finalizable) RemoveFinalizer(context.Context, string) error { return nil }

func TestConditionsWithoutResource(t *testing.T) {
	tests := map[string]struct {
		reason   string
		operator *conditiontest.Operator
		writes   int
	}{
		"Missing": {"library-go reports after each sync; an error would be retried and logged for ever", conditiontest.Missing(), 0},
		"There":   {"conditions are written", conditiontest.New(operatorv1.Managed), 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := maybeWithout{finalizable{tc.operator}}
			good := applyoperatorv1.OperatorStatus().WithConditions(condition.Good("XDegraded"))
			if err := client.ApplyOperatorStatus(t.Context(), "manager", good); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if got := tc.operator.Writes(); got != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, got, tc.writes)
			}
		})
	}
}
