// Package gate decides whether the driver is deployed at all, and says why where it is not.
// It needs no Ceph, so that its condition is the first thing written after a start.
package gate

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

const (
	controllerName = "CephGate"
	resync         = 20 * time.Minute
)

// Config is all that the gate uses.
type Config struct {
	ctrl.Env
	// Removed says whether managementState has the driver removed; not known while pkg/removal has yet to look.
	Removed func() (removed, known bool, err error)
	// Removal wakes the gate when Removed may have changed.
	Removal factory.Informer
	// Filesystem is what pkg/pools learned: whether the Ceph cluster has a CephFS filesystem.
	// Only drivers that need one read it.
	Filesystem *ctrl.Latest[bool]
	// OperandConditions are the types and parts that describe operands; they are removed while closed,
	// because Disabled hides no Degraded and no Progressing.
	OperandConditions []string
}

// Gate is the controller, and what it decides.
type Gate struct {
	factory.Controller
	Config
	// State is the last decision.
	State ctrl.Latest[State]
}

// New returns the controller that writes the condition Disabled=True, reason Removed, NoCephCluster,
// NoFilesystem, WaitingForCeph or ForeignCSIDriver, and removes it when it no longer holds;
// and CSIDriverManaged=False, reason ForeignCSIDriver, likewise.
func New(config Config) *Gate {
	c := &Gate{Config: config}
	c.Controller = factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(
			c.Operator.Informer(), c.Secrets.Informer(), c.Deployments.Informer(),
			c.DaemonSets.Informer(), c.CSIDrivers.Informer(), c.ClusterCSIDrivers.Informer(), c.Filesystem,
		).
		WithInformers(c.Remembered(), c.Removal). // Settings that are invalid now may have been valid once.
		WithFilteredEventsInformers(c.ofDriver, c.PersistentVolumes.Informer()).
		ToController(controllerName, c.Recorder)
	return c
}

// Wanted says whether the driver is to be deployed; not known before the first decision.
func (c *Gate) Wanted() (wanted, known bool) {
	state, known := c.State.Get()
	return state.Open, known
}

// Open says that the driver is to be deployed.
func (c *Gate) Open() bool {
	wanted, known := c.Wanted()
	return known && wanted
}

// Closed says that it is not to be, and that this is decided.
func (c *Gate) Closed() bool {
	wanted, known := c.Wanted()
	return known && !wanted
}

// Offers says that the operator's own classes are to be there.
func (c *Gate) Offers() bool {
	declared, err := c.RemovalDeclared()
	return err == nil && !declared && c.Open()
}

func (c *Gate) ofDriver(object any) bool {
	volume, ok := ctrl.Object(object).(*corev1.PersistentVolume)
	return ok && c.Driver.Serves(volume)
}

func (c *Gate) sync(ctx context.Context, _ factory.SyncContext) error {
	removed, known, err := c.Removed()
	if err != nil || !known {
		return err
	}
	in, err := c.gather()
	if err != nil {
		return err
	}
	in.Removed = removed
	state := decide(c.Driver, in)
	if err := c.report(ctx, state); err != nil {
		return err
	}
	c.State.Set(state)
	return nil
}

// report writes conditions before anybody acts on the state. Without a ClusterCSIDriver there
// is nowhere to write, and the state counts all the same.
func (c *Gate) report(ctx context.Context, state State) error {
	_, _, _, err := c.Operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterCSIDriver %s: %w", c.Driver.Name, err)
	}
	return condition.Say(ctx, c.Operator, controllerName, silent(state, c.OperandConditions), conditions(state)...)
}

func conditions(state State) []*condition.Said {
	switch {
	case !state.Open:
		return []*condition.Said{condition.New(condition.Disabled, operatorv1.ConditionTrue, state.Reason, state.Message)}
	case state.Reason != "":
		return []*condition.Said{condition.New(condition.CSIDriverManaged, operatorv1.ConditionFalse, state.Reason, state.Message)}
	}
	return nil
}

// silent are the types of which there is nothing to say but what conditions has.
func silent(state State, operands []string) []string {
	out := []string{condition.Disabled, condition.CSIDriverManaged}
	if !state.Open {
		out = append(out, operands...)
	}
	return out
}
