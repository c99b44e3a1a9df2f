package condition

import (
	"context"
	"errors"
	"testing"

	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
)

// heard counts what is said.
type heard int

func (h *heard) ApplyOperatorStatus(context.Context, string, *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	*h++
	return nil
}

// TestSayWhileEnding: what a process cut short when it was told to end is nothing to tell of.
func TestSayWhileEnding(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var h heard
	if err := Say(ctx, &h, "c", nil, Good("a")); err != nil || h != 1 {
		t.Fatalf("error %v, said %d times", err, h)
	}
	cancel()
	if err := Say(ctx, &h, "c", nil, Good("a")); !errors.Is(err, context.Canceled) || h != 1 {
		t.Errorf("error %v, said %d times", err, h)
	}
}
