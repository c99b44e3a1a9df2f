package operator

import (
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

func TestPatient(t *testing.T) {
	type report struct {
		after time.Duration
		bad   bool
	}
	tests := map[string]struct {
		reason  string
		reports []report
		want    operatorv1.ConditionStatus
	}{
		"Good":      {"good news is written at once", []report{{0, false}}, operatorv1.ConditionFalse},
		"News":      {"the retry may mend it", []report{{0, false}, {0, true}}, operatorv1.ConditionFalse},
		"First":     {"also when nothing was written yet", []report{{0, true}}, ""},
		"Lasting":   {"the retries do not mend it", []report{{0, false}, {0, true}, {patience / 2, true}, {patience / 2, true}}, operatorv1.ConditionTrue},
		"Mended":    {"the time starts anew", []report{{0, true}, {patience / 2, false}, {patience, true}}, operatorv1.ConditionFalse},
		"StillTrue": {"another error takes the place of the first", []report{{0, true}, {patience, true}, {0, true}}, operatorv1.ConditionTrue},
		"Over":      {"good news is written at once after bad news too", []report{{0, true}, {patience, true}, {0, false}}, operatorv1.ConditionFalse},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cr := conditiontest.New(operatorv1.Managed)
			now := clocktesting.NewFakePassiveClock(time.Now())
			client := newPatient(finalizable{cr}, now)
			for _, r := range tc.reports {
				now.SetTime(now.Now().Add(r.after))
				c := condition.Good("XDegraded")
				if r.bad {
					c = condition.New("XDegraded", operatorv1.ConditionTrue, condition.SyncError, "boom")
				}
				if err := client.ApplyOperatorStatus(t.Context(), "manager", applyoperatorv1.OperatorStatus().WithConditions(c)); err != nil {
					t.Fatal(err)
				}
			}
			var got operatorv1.ConditionStatus
			if c := cr.Condition("XDegraded"); c != nil {
				got = c.Status
			}
			if got != tc.want {
				t.Errorf("%s: XDegraded is %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPatientOfDegradedOnly(t *testing.T) {
	cr := conditiontest.New(operatorv1.Managed)
	client := newPatient(finalizable{cr}, clocktesting.NewFakePassiveClock(time.Now()))
	progressing := condition.New("XProgressing", operatorv1.ConditionTrue, "Rollout", "")
	if err := client.ApplyOperatorStatus(t.Context(), "manager", applyoperatorv1.OperatorStatus().WithConditions(progressing)); err != nil {
		t.Fatal(err)
	}
	if c := cr.Condition("XProgressing"); c == nil || c.Status != operatorv1.ConditionTrue {
		t.Errorf("XProgressing is %+v; only Degraded may wait", c)
	}
}
