package operator

import (
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestMendedWhileClosed: those who have nothing to do while the driver is not deployed keep no sum from getting well.
func TestMendedWhileClosed(t *testing.T) {
	// What the controllers say that work with the gate closed, too; of Ceph clusters' objects elsewhere where there is one.
	working := []*condition.Said{
		condition.Good(condition.SettingsDegraded), condition.Good(condition.MonitorsDegraded), condition.Good(condition.PoolsDegraded),
		condition.Good(condition.NodesDegraded),
		condition.New(condition.ClassesUsable, operatorv1.ConditionTrue, condition.AsExpected, ""),
		condition.New(condition.SourcesUsed, operatorv1.ConditionTrue, condition.AsExpected, ""),
		condition.New(condition.OutOfBandCurrent, operatorv1.ConditionTrue, condition.AsExpected, ""),
	}
	for _, tc := range []struct {
		reason, kind string
		bad          *condition.Said
		well         operatorv1.ConditionStatus
	}{
		{
			"a mistake in the settings of a cluster without Ceph", condition.ResourcesDegraded,
			condition.New(condition.SettingsDegraded, operatorv1.ConditionTrue, condition.InvalidSettings, "m"), operatorv1.ConditionFalse,
		},
		{
			"a ConfigMap that the operator might not write, of the driver that is somebody else's", condition.StorageClassesUsable,
			condition.New(condition.OutOfBandCurrent, operatorv1.ConditionFalse, condition.Forbidden, "m"), operatorv1.ConditionTrue,
		},
		{
			"snapshot classes that could not be kept when the driver was removed", condition.ResourcesDegraded,
			condition.New(condition.SnapshotClassesDegraded, operatorv1.ConditionTrue, condition.SyncError, "m"), operatorv1.ConditionFalse,
		},
		{
			"users that Ceph refused when the driver was removed", condition.ResourcesDegraded,
			condition.New(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.AccessDenied, "m"), operatorv1.ConditionFalse,
		},
		{
			"pods that waited for a person, and are removed", condition.NodePodsCurrent,
			condition.New(condition.NodePodsCurrent, operatorv1.ConditionFalse, condition.WaitingForDeletion, "m"), "",
		},
		{
			"the user that the driver worked as", condition.CredentialsMinted,
			condition.New(condition.CredentialsMinted, operatorv1.ConditionFalse, condition.Passthrough, "m"), "",
		},
	} {
		cr := conditiontest.New(operatorv1.Managed)
		w := newWriting(t, cr)
		if err := w.say(tc.bad); err != nil {
			t.Fatal(err)
		}
		said := append([]*condition.Said{}, working...)
		for _, kind := range silentWhileClosed(driver.RBD) {
			said = append(said, condition.Absent(kind))
		}
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		if err := w.say(said...); err != nil {
			t.Fatal(err)
		}
		var got operatorv1.ConditionStatus
		if c := cr.Condition(tc.kind); c != nil {
			got = c.Status
		}
		if got != tc.well {
			t.Errorf("%s: %s is %q, want %q", tc.reason, tc.kind, got, tc.well)
		}
	}
}
