package operator

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
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
			client := maybeWithout{finalizable{tc.operator}, &sync.Mutex{}}
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

// crowded counts the writes that ran beside another one.
type crowded struct {
	finalizable
	running, beside atomic.Int32
}

func (c *crowded) ApplyOperatorStatus(context.Context, string, *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	if c.running.Add(1) > 1 {
		c.beside.Add(1)
	}
	for range 1000 {
		runtime.Gosched()
	}
	c.running.Add(-1)
	return nil
}

func TestConditionsOneAfterTheOther(t *testing.T) {
	inner := &crowded{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	client := maybeWithout{inner, &sync.Mutex{}}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := client.ApplyOperatorStatus(t.Context(), "manager", applyoperatorv1.OperatorStatus()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := inner.beside.Load(); n > 0 {
		t.Errorf("%d of 20 writes ran beside another one; the API server would repeat them", n)
	}
}
