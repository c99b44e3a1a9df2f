package controller

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
)

// Sync is a factory.SyncFunc for while there is a ClusterCSIDriver, whose spec.managementState is state.
type Sync func(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error

// Factory begins a controller that hears of its ClusterCSIDriver, does and says nothing without one, and
// tries what failed again.
func (e Env) Factory(name string, sync Sync) *factory.Factory {
	return factory.New().
		WithSync(e.WithCR(sync)).
		WithControllerInstanceName(name).
		WithInformers(e.Operator.Informer())
}

// WithCR runs sync while there is a ClusterCSIDriver, for controllers that hear of it in another way.
func (e Env) WithCR(sync Sync) factory.SyncFunc {
	return func(ctx context.Context, syncCtx factory.SyncContext) error {
		state, err := ManagementState(e.Operator, e.Driver.Name)
		if err != nil || state == NoCR {
			return err
		}
		err = sync(ctx, syncCtx, state)
		if err != nil {
			syncCtx.Queue().AddAfter(factory.DefaultQueueKey, latestRetry)
		}
		return err
	}
}
