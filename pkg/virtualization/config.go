package virtualization

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// Config is what the controllers use that look after StorageClasses of the driver on a platform
// for virtual machines.
type Config struct {
	ctrl.Env
	// Watches are what the gate starts and stops.
	Watches *Watches
	Rights  Rights
}

// controller runs sync while there is a ClusterCSIDriver.
func (c Config) controller(name string, sync factory.SyncFunc, more ...factory.Informer) factory.Controller {
	whatever := func(ctx context.Context, syncCtx factory.SyncContext, _ operatorv1.ManagementState) error {
		return sync(ctx, syncCtx)
	}
	return c.Factory(name, whatever).
		ResyncEvery(resync).
		WithInformers(c.StorageClasses.Informer(), c.Watches).
		WithInformers(more...).
		ToController(name, c.Recorder)
}

// TakeBack takes back what the operator wrote into others' objects, and names it. Without the rights it has written
// nothing.
func (c Config) TakeBack(ctx context.Context) ([]string, error) {
	held, err := c.Rights.Held(ctx, c.Driver, c.Driver.MachinesRole())
	if err != nil || !held {
		return nil, err
	}
	traces, err := Traces(ctx, c.Dynamic, c.Driver)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range traces {
		out = append(out, t.What)
		if err := t.Remove(ctx); err != nil {
			return out, err
		}
	}
	return out, nil
}
