package virtualization

import (
	"context"
	"errors"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/management"
)

const (
	gateName = "CephVirtualizationGate"
	resync   = 20 * time.Minute
	// deadline bounds a request.
	deadline = 10 * time.Second
)

// GateConfig is all that the gate uses.
type GateConfig struct {
	Driver   driver.Driver
	Operator v1helpers.OperatorClient
	Client   dynamic.Interface
	// Served returns the versions that the API server serves of a CRD; none without it.
	Served func(crd string) []string
	// Open says that the driver is deployed.
	Open func() bool
	// Watches are what the gate starts and stops.
	Watches *Watches
	// Triggers wake the gate when Served or Open may have changed.
	Triggers []factory.Informer
	Recorder events.Recorder
}

// NewGate returns the controller that watches what the others of this package read: while its
// CRDs exist, the driver is deployed and managementState is Managed. It writes nothing.
func NewGate(config GateConfig) factory.Controller {
	return factory.New().
		WithSync(config.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(gateName).
		WithInformers(config.Operator.Informer()).
		WithInformers(config.Triggers...).
		ToController(gateName, config.Recorder)
}

func (c GateConfig) sync(ctx context.Context, _ factory.SyncContext) error {
	managed, err := c.managed()
	if err != nil {
		return err
	}
	var errs []error
	open := managed && c.Open()
	c.Watches.setOpen(open)
	for _, k := range kindsOf(c.Driver) {
		var served []string
		if open {
			served = k.wanted(c.Served)
		}
		if open && k.version != "" && len(c.Watches.list(k)) > 0 {
			served = []string{k.version} // They are to be removed.
		}
		errs = append(errs, c.Watches.follow(ctx, c.Client, k, served))
	}
	return errors.Join(errs...)
}

func (c GateConfig) managed() (bool, error) {
	state, err := management.State(c.Operator, c.Driver.Name)
	return state == operatorv1.Managed, err
}
