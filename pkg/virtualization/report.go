package virtualization

import (
	"context"
	"fmt"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
)

// reporter writes conditions that are there only while what they tell of is.
type reporter struct {
	operator v1helpers.OperatorClient
	manager  string
}

// report writes conditions of a type, or takes an earlier one back where there is none.
func (r reporter) report(ctx context.Context, conditionType string, conditions ...*applyoperatorv1.OperatorConditionApplyConfiguration) error {
	_, status, _, err := r.operator.GetOperatorState()
	if err != nil {
		return fmt.Errorf("reading the conditions: %w", err)
	}
	told := slices.ContainsFunc(status.Conditions, func(c operatorv1.OperatorCondition) bool { return c.Type == conditionType })
	if len(conditions) == 0 && !told {
		return nil
	}
	if err := r.operator.ApplyOperatorStatus(ctx, r.manager, applyoperatorv1.OperatorStatus().WithConditions(conditions...)); err != nil {
		return fmt.Errorf("writing condition %s: %w", conditionType, err)
	}
	return nil
}
