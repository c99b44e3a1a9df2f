package clusterstorage

import (
	"context"
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// crCondition comes between the driver's prefix and the type of what its conditions add up to.
const crCondition = "CSIDriverOperatorCR"

// clusterCSIDriver creates the ClusterCSIDriver where it is missing and sums up its conditions.
//
// It produces the conditions <prefix>CSIDriverOperatorDegraded and
// <prefix>CSIDriverOperatorCRAvailable, …CRProgressing, …CRDegraded and …CRUpgradeable.
func (s starter) clusterCSIDriver(o operator) factory.Controller {
	lister := s.clients.operators.Operator().V1().ClusterCSIDrivers().Lister()
	name := o.ConditionPrefix + crController
	return s.controller(controller{
		name: name, of: o,
		sync: func(ctx context.Context, _ factory.SyncContext) error {
			cr, err := lister.Get(o.CSIDriverName)
			if apierrors.IsNotFound(err) {
				if !accepts(s.clients.crd(clusterCSIDriverCRD), o.CSIDriverName) {
					return s.withdraw(ctx, FieldManager+name) // CephCRDPatchDegraded says so.
				}
				return s.createDriver(ctx, o)
			}
			if err != nil {
				return fmt.Errorf("reading ClusterCSIDriver %s: %w", o.CSIDriverName, err)
			}
			sum := applyoperatorv1.OperatorStatus().WithConditions(summary(o.ConditionPrefix, cr.Status.Conditions)...)
			return s.clients.storage.ApplyOperatorStatus(ctx, name, sum)
		},
	})
}

// withdraw takes back what a field manager of ours has said in Storage/cluster of an object that is gone.
func (s starter) withdraw(ctx context.Context, manager string) error {
	storage := s.clients.storageObject()
	if storage == nil {
		return nil
	}
	return Release(ctx, s.clients.dynamic, storage, func(m string) bool { return m == manager })
}

// summary is what CSO would write for the conditions of a ClusterCSIDriver, but for one thing:
// an operator that has said nothing yet, because its image is still pulled, is Progressing and
// not unavailable.
//
//	           Available             Progressing              Degraded  Upgradeable
//	Disabled   True, DriverDisabled  False                    union     union or True
//	silent     absent                True, WaitForOperator    union     union or True
//	otherwise  union                 union                    union     union or True
func summary(prefix string, conditions []operatorv1.OperatorCondition) []*condition.Said {
	sum := func(kind string, good operatorv1.ConditionStatus) operatorv1.OperatorCondition {
		return status.UnionCondition(kind, good, nil, conditions...)
	}
	available := sum(operatorv1.OperatorStatusTypeAvailable, operatorv1.ConditionTrue)
	progressing := sum(operatorv1.OperatorStatusTypeProgressing, operatorv1.ConditionFalse)
	degraded := sum(operatorv1.OperatorStatusTypeDegraded, operatorv1.ConditionFalse)
	upgradeable := sum(operatorv1.OperatorStatusTypeUpgradeable, operatorv1.ConditionTrue)
	if progressing.Status == operatorv1.ConditionUnknown {
		progressing.Status, progressing.Reason = operatorv1.ConditionTrue, condition.WaitForOperator
		progressing.Message = "Waiting for the operator of " + prefix + " to report"
	}
	if degraded.Status == operatorv1.ConditionUnknown {
		degraded.Status, degraded.Reason = operatorv1.ConditionFalse, condition.AsExpected
	}
	if upgradeable.Status == operatorv1.ConditionUnknown {
		upgradeable.Status, upgradeable.Reason = operatorv1.ConditionTrue, condition.AsExpected
	}
	if message, disabled := disabled(conditions); disabled {
		available = operatorv1.OperatorCondition{
			Status: operatorv1.ConditionTrue, Reason: condition.DriverDisabled,
			Message: fmt.Sprintf("CSI driver for %s is disabled: %s", prefix, message),
		}
		progressing = operatorv1.OperatorCondition{Status: operatorv1.ConditionFalse, Reason: condition.DriverDisabled}
	}
	out := []*condition.Said{
		named(prefix, operatorv1.OperatorStatusTypeProgressing, progressing),
		named(prefix, operatorv1.OperatorStatusTypeDegraded, degraded),
		named(prefix, operatorv1.OperatorStatusTypeUpgradeable, upgradeable),
	}
	if available.Status != operatorv1.ConditionUnknown {
		out = append(out, named(prefix, operatorv1.OperatorStatusTypeAvailable, available))
	}
	return out
}

func named(prefix, kind string, c operatorv1.OperatorCondition) *condition.Said {
	return condition.New(prefix+crCondition+kind, c.Status, c.Reason, c.Message)
}

// disabled is the message of a condition that says so. CSO takes a False one for disabled, too.
func disabled(conditions []operatorv1.OperatorCondition) (string, bool) {
	for _, c := range conditions {
		if strings.HasSuffix(c.Type, condition.Disabled) {
			return c.Message, true
		}
	}
	return "", false
}
