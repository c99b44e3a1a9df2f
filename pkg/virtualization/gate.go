package virtualization

import (
	"context"
	"errors"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

const (
	gateName = "CephVirtualizationGate"
	resync   = 20 * time.Minute
	// deadline bounds a request.
	deadline = 10 * time.Second
)

// GateConfig is all that the gate uses.
type GateConfig struct {
	Config
	// Open says that the driver is deployed, Closed that it is not, which is known later than that it is not known to be.
	Open, Closed func() bool
	// Triggers wake the gate when Open may have changed.
	Triggers []factory.Informer
}

// gate knows since when it has seen the binding of which role, and since when there is no platform for the rights
// that it has. One worker calls it.
type gate struct {
	GateConfig
	bound map[string]sight
	idle  time.Time
}

// sight is when a binding was seen first.
type sight struct {
	binding types.UID
	first   time.Time
}

// spread is how long API servers may take to hear of a binding.
const spread = 3 * time.Second

// NewGate returns the controller that watches what the others of this package read: while its
// CRDs exist, the driver is deployed and managementState is Managed. Of platforms for virtual machines it takes the
// rights then, and gives them back where they are needless; it writes nothing else.
func NewGate(config GateConfig) factory.Controller {
	c := &gate{GateConfig: config, bound: map[string]sight{}}
	return factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(gateName).
		WithInformers(config.Operator.Informer(), config.CRDs).
		WithInformers(config.Triggers...).
		WithInformers(config.Rights.informer(config.Driver)).
		ToController(gateName, config.Recorder)
}

func (c *gate) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	managed, err := c.managed()
	if err != nil {
		return err
	}
	var errs []error
	open := managed && c.Open()
	if managed && !open && !c.Closed() {
		return nil // After a start; what was said before it stands until then.
	}
	c.Watches.setOpen(open)
	refused := map[string]error{}
	if open {
		refused[c.Driver.MachinesRole()] = c.keepRights(ctx, syncCtx.Queue())
		errs = append(errs, refused[c.Driver.MachinesRole()])
	}
	for _, k := range kindsOf(c.Driver) {
		var served []string
		if open {
			served = k.wanted(c.Served)
		}
		if len(served) > 0 {
			allowed, err := c.allowed(ctx, k, syncCtx.Queue())
			if errs = append(errs, err); !allowed {
				c.Watches.await(k, errors.Join(refused[k.role], err))
				continue
			}
		}
		errs = append(errs, c.Watches.follow(ctx, c.Dynamic, k, served))
	}
	c.Watches.decide()
	return errors.Join(errs...)
}

// allowed says whether the operator may read a kind, which every API server knows. Before it begins to, it asks
// past the cache: that may still have a binding that was given back a moment ago.
func (c *gate) allowed(ctx context.Context, k kind, queue workqueue.TypedRateLimitingInterface[any]) (bool, error) {
	if k.role == "" {
		return true, nil
	}
	held := c.Rights.bound(c.Driver, k.role)
	if held == nil {
		delete(c.bound, k.role)
		return false, nil
	}
	seen, known := c.bound[k.role]
	if !known || seen.binding != held.UID {
		seen = sight{held.UID, c.Clock.Now()}
		c.bound[k.role] = seen
	}
	made := held.CreationTimestamp.Time
	rest := spread - max(c.Clock.Since(seen.first), c.Clock.Since(made)-time.Second) // It is of whole seconds.
	if rest > 0 {
		queue.AddAfter(factory.DefaultQueueKey, rest)
		return false, nil
	}
	if _, reads := c.Watches.resource(k); reads {
		return true, nil
	}
	return c.Rights.Held(ctx, c.Driver, k.role)
}

func (c *gate) managed() (bool, error) {
	state, err := ctrl.ManagementState(c.Operator, c.Driver.Name)
	return state == operatorv1.Managed, err
}
