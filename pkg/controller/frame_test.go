package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/client-go/util/workqueue"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// queue is one of which only AddAfter may be called.
type queue struct {
	workqueue.RateLimitingInterface
	*planned
}

func (q queue) AddAfter(item any, wait time.Duration) { q.planned.AddAfter(item, wait) }

type planning struct {
	factory.SyncContext
	planned planned
}

func (p *planning) Queue() workqueue.RateLimitingInterface { return queue{planned: &p.planned} }

func TestFrameTriesAgain(t *testing.T) {
	refused := errors.New("a webhook refuses")
	env := Env{Driver: driver.RBD, Operator: conditiontest.New(operatorv1.Managed)}
	sync := env.WithCR(func(context.Context, factory.SyncContext, operatorv1.ManagementState) error { return refused })
	p := &planning{}
	if err := sync(t.Context(), p); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if want := []time.Duration{latestRetry}; !slices.Equal(p.planned.waits, want) {
		t.Errorf("tries again after %v, want %v: when the webhook is mended, nobody tells", p.planned.waits, want)
	}
}
