// Package removal takes a driver off a cluster whose ClusterCSIDriver says managementState Removed, once
// nothing needs the driver, and says what does until then. Nothing in Ceph is changed. The other
// controllers bring everything back when it says Managed again.
package removal

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	controllerName = "CephRemoval"
	resync         = 20 * time.Minute
	// lookAgain is when to look again for what needs the driver, which may go by the thousand, and
	// watchAgain when nothing needed it.
	lookAgain  = 10 * time.Second
	watchAgain = time.Minute
	// workAgain is when to go on with a removal that has begun.
	workAgain = 2 * time.Second
	// shown is how many names a message lists.
	shown = 3
)

// Record remembers what users gave a class while it is gone; a state.Record is one.
type Record interface {
	// Read is past the cache: what it says decides whether a class that is deleted next is remembered.
	Read(ctx context.Context) (state.Class, bool, error)
	Save(ctx context.Context, value state.Class) error
}

// Sight is what the controller sees of the cluster; Holders has it.
type Sight interface {
	// Declared says whether spec.managementState is Removed; so it is not without a ClusterCSIDriver.
	Declared() (bool, error)
	// Deployed says whether there is a workload of ours.
	Deployed() (bool, error)
	// Cached counts what of the driver is in the caches; Attachments and Look ask past them.
	Cached() (Held, error)
	Attachments(ctx context.Context) (int, error)
	Look(ctx context.Context) (Held, error)
}

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	Sight Sight
	// Objects are those to remove, Records where classes are remembered, by their Object.String().
	Objects Objects
	Records map[string]Record
	// TakeBack takes back what was written into others' objects, and names it.
	TakeBack func(ctx context.Context) ([]string, error)
	// State is set to what the other controllers are to take managementState for.
	State *ctrl.Latest[operatorv1.ManagementState]
}

// Controller takes the driver off.
type Controller struct {
	factory.Controller
	Config
	manager string
	// since is when the first look of those found nothing that came without a break.
	since time.Time
	// done says that nothing was left to remove.
	done bool
}

// New returns the controller. While managementState is Removed it writes DriverRemoved: True when nothing
// of the driver is left; otherwise False, reason WaitingForVolumes, Removing or SyncError.
func New(config Config) *Controller {
	c := &Controller{Config: config, manager: config.Driver.FieldManager(controllerName)}
	c.Controller = factory.New().
		WithSync(c.WithCR(c.sync)).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(ctrl.SpecChanges(c.Operator.Informer())).
		WithInformers(c.ClusterCSIDrivers.Informer(), c.Remembered(), c.CRDs, c.Deployments.Informer(), c.DaemonSets.Informer()).
		WithBareInformers(c.PersistentVolumes.Informer()).
		ToController(controllerName, c.Recorder)
	return c
}

// Removed says whether the driver is off the cluster, or on its way; not known before the first look.
func (c *Controller) Removed() (removed, known bool, err error) {
	declared, err := c.Sight.Declared()
	if err != nil || !declared {
		return false, err == nil, err
	}
	now, known := c.State.Get()
	return now == operatorv1.Removed, known, nil
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext, _ operatorv1.ManagementState) error {
	f, err := c.gather(ctx)
	if err != nil {
		return err
	}
	before, _ := c.State.Get()
	v := decide(c.Driver, f)
	c.State.Set(v.state)
	if v.step != remove {
		c.done = false
	}
	switch {
	case v.step == nothing:
		return condition.Say(ctx, c.Operator, c.manager, []string{condition.DriverRemoved})
	case c.done:
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, watchAgain)
		return nil
	case v.step == remove && before != operatorv1.Removed:
		// The other controllers end what they are at.
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, workAgain)
		return nil
	}
	left, err := c.act(ctx, v.step)
	wait := lookAgain
	if v.step == remove {
		c.done = err == nil && len(left) == 0
		wait = workAgain
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
	return c.report(ctx, v, left, err)
}

// gather asks past the caches where these have nothing, unless all was removed then and they still have
// nothing.
func (c *Controller) gather(ctx context.Context) (facts, error) {
	f := facts{}
	var err error
	if f.declared, err = c.Sight.Declared(); err != nil {
		return f, err
	}
	if !f.declared {
		c.since = time.Time{}
		return f, nil
	}
	if f.deployed, err = c.Sight.Deployed(); err != nil {
		return f, err
	}
	if f.held, err = c.Sight.Cached(); err != nil {
		return f, err
	}
	switch {
	case !f.held.none():
		f.held.Attachments, f.unread = c.Sight.Attachments(ctx)
	case c.done:
		f.settled = true
		return f, nil
	default:
		f.held, f.unread = c.Sight.Look(ctx)
	}
	now := c.Clock.Now()
	switch {
	case f.unread != nil || !f.held.none():
		c.since = time.Time{}
	case c.since.IsZero():
		c.since = now
	default:
		f.settled = now.Sub(c.since) >= settle
	}
	return f, nil
}

// report writes the condition; left are names of what is still there.
func (c *Controller) report(ctx context.Context, v verdict, left []string, problem error) error {
	status, reason, message := operatorv1.ConditionFalse, v.reason, v.message
	switch {
	case problem != nil:
		reason, message = condition.SyncError, fmt.Sprintf("managementState is Removed: %v", problem)
	case c.done:
		status, reason = operatorv1.ConditionTrue, condition.AsExpected
		message = "The driver is removed, as managementState asks; in Ceph, everything is as it was. Set spec.managementState to Managed to have the driver back"
	case v.step == remove:
		message = "managementState is Removed: waiting until these have gone: " + condition.Names(left, shown)
	case reason == "":
		return nil
	}
	err := condition.Say(ctx, c.Operator, c.manager, []string{condition.DriverRemoved}, condition.New(condition.DriverRemoved, status, reason, message))
	if problem != nil {
		return problem
	}
	return err
}
