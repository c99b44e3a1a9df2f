package condition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
)

// Tell writes the conditions of a controller that is silent while all is well. Where there is nothing to
// say, and none of its types is there from before, it writes nothing.
func Tell(ctx context.Context, operator v1helpers.OperatorClient, manager string, types []string, wanted ...*applyoperatorv1.OperatorConditionApplyConfiguration) error {
	_, held, _, err := operator.GetOperatorState()
	if err != nil {
		return fmt.Errorf("reading the conditions %s: %w", strings.Join(types, ", "), err)
	}
	told := slices.ContainsFunc(held.Conditions, func(c operatorv1.OperatorCondition) bool { return slices.Contains(types, c.Type) })
	if len(wanted) == 0 && !told {
		return nil
	}
	if err := operator.ApplyOperatorStatus(ctx, manager, applyoperatorv1.OperatorStatus().WithConditions(wanted...)); err != nil {
		return fmt.Errorf("writing the conditions %s: %w", strings.Join(types, ", "), err)
	}
	return nil
}
