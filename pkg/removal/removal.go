// Package removal takes a driver off a cluster whose ClusterCSIDriver says managementState Removed, once
// nothing needs the driver, and says what does until then. Nothing in Ceph is changed. The other
// controllers bring everything back when it says Managed again.
package removal

import (
	"context"
	"fmt"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	"k8s.io/client-go/dynamic"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
	Load() (state.Class, bool, error)
	Save(ctx context.Context, value state.Class) error
}

// Config is all that the controller uses.
type Config struct {
	Driver   driver.Driver
	Operator v1helpers.OperatorClient
	Client   dynamic.Interface
	// Declared says whether spec.managementState is Removed; so it is not without a ClusterCSIDriver.
	Declared func() (bool, error)
	// Cached counts what of the driver is in the caches; Attachments and Look ask past them.
	Cached      func() (Held, error)
	Attachments func(ctx context.Context) (int, error)
	Look        func(ctx context.Context) (Held, error)
	// Deployed says whether there is a workload of ours.
	Deployed func() (bool, error)
	// Served returns the versions that the API server serves of a CRD; none without it.
	Served func(crd string) []string
	// Objects are those to remove, Records where classes are remembered, by their Object.String().
	Objects Objects
	Records map[string]Record
	// TakeBack takes back what was written into others' objects, and names it.
	TakeBack func(ctx context.Context) ([]string, error)
	// State is set to what the other controllers are to take managementState for.
	State *ctrl.Latest[operatorv1.ManagementState]
	// Triggers wake the controller when Deployed or Served may have changed.
	Triggers []factory.Informer
	Clock    clock.PassiveClock
	Recorder events.Recorder
}

type controller struct {
	Config
	manager string
	// since is when the first look of those found nothing that came without a break.
	since time.Time
	// done says that nothing was left to remove.
	done bool
}

// New returns the controller. While managementState is Removed it writes DriverRemoved: True when nothing
// of the driver is left; otherwise False, reason WaitingForVolumes, Removing or SyncError.
func New(config Config) factory.Controller {
	c := &controller{Config: config, manager: config.Driver.OperatorName() + "-" + controllerName}
	return factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(ctrl.SpecChanges(c.Operator.Informer())).
		WithInformers(c.Triggers...).
		ToController(controllerName, c.Recorder)
}

func (c *controller) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	if state, err := ctrl.ManagementState(c.Operator, c.Driver.Name); err != nil || state == ctrl.NoCR {
		return err
	}
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
func (c *controller) gather(ctx context.Context) (facts, error) {
	f := facts{}
	var err error
	if f.declared, err = c.Declared(); err != nil {
		return f, err
	}
	if !f.declared {
		c.since = time.Time{}
		return f, nil
	}
	if f.deployed, err = c.Deployed(); err != nil {
		return f, err
	}
	if f.held, err = c.Cached(); err != nil {
		return f, err
	}
	switch {
	case !f.held.none():
		f.held.Attachments, f.unread = c.Attachments(ctx)
	case c.done:
		f.settled = true
		return f, nil
	default:
		f.held, f.unread = c.Look(ctx)
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
func (c *controller) report(ctx context.Context, v verdict, left []string, problem error) error {
	status, reason, message := operatorv1.ConditionFalse, v.reason, v.message
	switch {
	case problem != nil:
		reason, message = condition.SyncError, fmt.Sprintf("managementState is Removed: %v", problem)
	case c.done:
		status, reason = operatorv1.ConditionTrue, condition.AsExpected
		message = "The driver is removed, as managementState asks; in Ceph, everything is as it was. Set spec.managementState to Managed to have the driver back"
	case v.step == remove:
		message = "managementState is Removed: waiting until these have gone: " + some(left)
	case reason == "":
		return nil
	}
	err := condition.Say(ctx, c.Operator, c.manager, []string{condition.DriverRemoved}, condition.New(condition.DriverRemoved, status, reason, message))
	if problem != nil {
		return problem
	}
	return err
}

func some(names []string) string {
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}
