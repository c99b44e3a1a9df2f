package virtualization

import (
	"context"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/client-go/dynamic"
	storageinformers "k8s.io/client-go/informers/storage/v1"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Config is what the controllers use that look after StorageClasses of the driver on a platform
// for virtual machines.
type Config struct {
	Driver         driver.Driver
	Operator       v1helpers.OperatorClient
	Client         dynamic.Interface
	StorageClasses storageinformers.StorageClassInformer
	Watches        *Watches
	// Served returns the versions that the API server serves of a CRD; none without it.
	Served   func(crd string) []string
	Rights   Rights
	Recorder events.Recorder
}

// controller runs sync while there is a ClusterCSIDriver.
func (c Config) controller(name string, sync factory.SyncFunc, more ...factory.Informer) factory.Controller {
	return factory.New().
		WithSync(func(ctx context.Context, syncCtx factory.SyncContext) error {
			if state, err := ctrl.ManagementState(c.Operator, c.Driver.Name); err != nil || state == ctrl.NoCR {
				return err
			}
			return sync(ctx, syncCtx)
		}).
		ResyncEvery(resync).
		WithControllerInstanceName(name).
		WithInformers(c.Operator.Informer(), c.StorageClasses.Informer(), c.Watches).
		WithInformers(more...).
		ToController(name, c.Recorder)
}
