package operator

import (
	"context"
	"strings"
	"sync"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
)

// patience is how long a sync must have failed before it is a condition. Failed syncs are
// repeated with growing pauses, so the news comes after at most twice that time.
const patience = 3 * time.Second

// patient keeps conditions of library-go's controllers from flapping: they go Degraded over
// every error, such as a write that met another one, and back with the retry a moment later.
type patient struct {
	v1helpers.OperatorClientWithFinalizers
	clock clock.PassiveClock

	mu sync.Mutex
	// failing is since when a condition type wants to be True, while it is not.
	failing map[string]time.Time
}

func newPatient(inner v1helpers.OperatorClientWithFinalizers, clock clock.PassiveClock) *patient {
	return &patient{OperatorClientWithFinalizers: inner, clock: clock, failing: map[string]time.Time{}}
}

// ApplyOperatorStatus writes conditions, but not a Degraded one that is news. The controllers
// write that one alone, and return the error behind it.
func (p *patient) ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	for _, c := range status.Conditions {
		if strings.HasSuffix(ptr.Deref(c.Type, ""), operatorv1.OperatorStatusTypeDegraded) && p.early(*c.Type, ptr.Deref(c.Status, "")) {
			return nil
		}
	}
	return p.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, fieldManager, status)
}

// early says that a condition went True too short a time ago.
func (p *patient) early(conditionType string, status operatorv1.ConditionStatus) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status != operatorv1.ConditionTrue {
		delete(p.failing, conditionType)
		return false
	}
	if _, now, _, err := p.GetOperatorState(); err == nil && v1helpers.IsOperatorConditionTrue(now.Conditions, conditionType) {
		return false
	}
	since, known := p.failing[conditionType]
	if !known {
		p.failing[conditionType] = p.clock.Now()
		return true
	}
	return p.clock.Since(since) < patience
}
