package clusterstorage

import (
	"context"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// slowResync is how often what informers tell at once is compared all the same.
const slowResync = 20 * time.Minute

// controller is a row of the table.
type controller struct {
	name string
	sync factory.SyncFunc
	// informers beside those that decide over drivers.
	informers []factory.Informer
	resync    time.Duration
	// of is the driver's operator that sync is for: it is called only while that is to run.
	of operator
	// always has sync called whatever is decided.
	always bool
	// quiet is set where sync reports its errors itself.
	quiet bool
}

// controller wraps library-go's controllers: they resync each minute with a live GET per
// object, and know neither the start decision nor a missing Storage/cluster.
func (s starter) controller(c controller) factory.Controller {
	if c.resync == 0 {
		c.resync = slowResync
	}
	f := factory.New().
		WithInformers(append(s.clients.deciders(), c.informers...)...).
		ResyncEvery(c.resync).
		WithSync(s.gated(c))
	return f.ToController(c.name, s.recorder)
}

// gated runs sync when that is decided, and reports how it went: <name>Degraded.
func (s starter) gated(c controller) factory.SyncFunc {
	return func(ctx context.Context, syncCtx factory.SyncContext) error {
		if !c.always && s.decide(c.of) != run {
			return nil
		}
		err := c.sync(ctx, syncCtx)
		if apierrors.IsConflict(err) {
			return ctrl.Retry(syncCtx.Queue(), err)
		}
		err = ctrl.Retry(syncCtx.Queue(), err)
		if c.quiet || s.otherGlue() || !s.managed() {
			return err
		}
		return s.report(ctx, c.name, err)
	}
}

// logLevel follows spec.operatorLogLevel of Storage/cluster.
func (s starter) logLevel() factory.Controller {
	inner := loglevel.NewClusterOperatorLoggingController(s.clients.storage, s.recorder)
	return s.controller(controller{name: inner.Name(), always: true, quiet: true, sync: func(ctx context.Context, syncCtx factory.SyncContext) error {
		if err := inner.Sync(ctx, syncCtx); !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	}})
}
