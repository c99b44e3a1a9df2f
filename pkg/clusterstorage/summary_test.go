package clusterstorage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
)

const (
	yes = operatorv1.ConditionTrue
	no  = operatorv1.ConditionFalse
)

func cond(kind string, status operatorv1.ConditionStatus, message string) operatorv1.OperatorCondition {
	return operatorv1.OperatorCondition{Type: kind, Status: status, Reason: "R", Message: message}
}

func TestSummary(t *testing.T) {
	tests := map[string]struct {
		reason     string
		conditions []operatorv1.OperatorCondition
		want       map[string]string
	}{
		"Silent": {
			reason: "while the operator's image is pulled, the storage of the cluster is not unavailable",
			want:   map[string]string{"Progressing": "True WaitForOperator", "Degraded": "False AsExpected", "Upgradeable": "True AsExpected"},
		},
		"Well": {
			reason:     "all conditions of a kind count",
			conditions: []operatorv1.OperatorCondition{cond("AAvailable", yes, ""), cond("BAvailable", yes, ""), cond("AProgressing", no, ""), cond("ADegraded", no, "")},
			want:       map[string]string{"Available": "True AsExpected", "Progressing": "False AsExpected", "Degraded": "False AsExpected", "Upgradeable": "True AsExpected"},
		},
		"Unavailable": {
			reason:     "an operator that has reported is believed",
			conditions: []operatorv1.OperatorCondition{cond("AAvailable", no, "x"), cond("AProgressing", yes, "y"), cond("ADegraded", yes, "z")},
			want:       map[string]string{"Available": "False A_R", "Progressing": "True A_R", "Degraded": "True A_R", "Upgradeable": "True AsExpected"},
		},
		"Disabled": {
			reason:     "a driver that is not wanted hurts nothing, whatever it said before",
			conditions: []operatorv1.OperatorCondition{cond("Disabled", yes, "no Ceph"), cond("AAvailable", no, ""), cond("AProgressing", yes, "")},
			want:       map[string]string{"Available": "True DriverDisabled", "Progressing": "False DriverDisabled", "Degraded": "False AsExpected", "Upgradeable": "True AsExpected"},
		},
		"DisabledAndDegraded": {
			reason:     "Degraded is not hidden",
			conditions: []operatorv1.OperatorCondition{cond("Disabled", yes, "foreign"), cond("ADegraded", yes, "x")},
			want:       map[string]string{"Available": "True DriverDisabled", "Progressing": "False DriverDisabled", "Degraded": "True A_R", "Upgradeable": "True AsExpected"},
		},
		"NotUpgradeable": {
			reason:     "a driver may hold up an upgrade",
			conditions: []operatorv1.OperatorCondition{cond("AUpgradeable", no, "x"), cond("AAvailable", yes, ""), cond("AProgressing", no, "")},
			want:       map[string]string{"Available": "True AsExpected", "Progressing": "False AsExpected", "Degraded": "False AsExpected", "Upgradeable": "False A_R"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, c := range summary("P", tc.conditions) {
				got[(*c.Type)[len("PCSIDriverOperatorCR"):]] = fmt.Sprintf("%s %s", *c.Status, *c.Reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSummaryTellsWhyDisabled(t *testing.T) {
	for _, c := range summary("CephRBD", []operatorv1.OperatorCondition{cond("Disabled", yes, "no Ceph cluster")}) {
		want := "CSI driver for CephRBD is disabled: no Ceph cluster"
		if *c.Type == "CephRBDCSIDriverOperatorCRAvailable" && *c.Message != want {
			t.Errorf("message %q, want %q", *c.Message, want)
		}
	}
}
