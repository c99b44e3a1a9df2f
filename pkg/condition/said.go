package condition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
)

// Said is what a controller says of a type or a part.
type Said = applyoperatorv1.OperatorConditionApplyConfiguration

// maxMessage is the length, in bytes, at which messages are cut, and ellipsis their new end.
const (
	maxMessage = 4096
	ellipsis   = '…'
)

// New builds a condition for ApplyOperatorStatus. A message that is too long, because what it
// quotes is, loses its end.
func New(conditionType string, status operatorv1.ConditionStatus, reason, message string) *Said {
	message = cut(message, maxMessage)
	return applyoperatorv1.OperatorCondition().
		WithType(conditionType).WithStatus(status).WithReason(reason).WithMessage(message)
}

func cut(message string, most int) string {
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + string(ellipsis)
}

// Good is the quiet state of a Degraded type.
func Good(conditionType string) *Said {
	return New(conditionType, operatorv1.ConditionFalse, AsExpected, "")
}

// Absent says that there is nothing to say of a type: a Board takes it from the ClusterCSIDriver.
func Absent(conditionType string) *Said {
	return applyoperatorv1.OperatorCondition().WithType(conditionType)
}

// Writer is what conditions are said to: the client of a ClusterCSIDriver.
type Writer interface {
	ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error
}

// Say says the conditions of a controller; of those of its types that are not among them, that they are absent. Once the
// process is told to end, nothing is said: what the end cut short has not failed.
func Say(ctx context.Context, writer Writer, controller string, types []string, said ...*Said) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	for _, conditionType := range types {
		if !slices.ContainsFunc(said, func(s *Said) bool { return *s.Type == conditionType }) {
			said = append(said, Absent(conditionType))
		}
	}
	if err := writer.ApplyOperatorStatus(ctx, controller, applyoperatorv1.OperatorStatus().WithConditions(said...)); err != nil {
		return fmt.Errorf("writing the conditions of %s: %w", controller, err)
	}
	return nil
}
