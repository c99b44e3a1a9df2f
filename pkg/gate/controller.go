// Package gate decides whether the driver is deployed at all, and says why where it is not.
// It needs no Ceph, so that its condition is the first thing written after a start.
package gate

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	controllerName = "CephGate"
	resync         = 20 * time.Minute
)

// Config is all that the gate uses.
type Config struct {
	Driver   driver.Driver
	Operator v1helpers.OperatorClient
	// Secrets, Deployments and DaemonSets are those of driver.Namespace.
	Secrets           coreinformers.SecretInformer
	Deployments       appsinformers.DeploymentInformer
	DaemonSets        appsinformers.DaemonSetInformer
	CSIDrivers        storageinformers.CSIDriverInformer
	PersistentVolumes coreinformers.PersistentVolumeInformer
	// Removed says whether managementState has the driver removed; not known while pkg/removal has yet to look.
	Removed func() (removed, known bool, err error)
	// Settings reads spec.driverConfig of the ClusterCSIDriver.
	Settings func() (driver.Settings, error)
	// Triggers wake the gate when Settings may have changed without an event of the ClusterCSIDriver.
	Triggers []factory.Informer
	// Filesystem is what pkg/pools learned: whether the Ceph cluster has a CephFS filesystem.
	// Only drivers that need one read it.
	Filesystem *ctrl.Latest[bool]
	// State is set to each decision.
	State *ctrl.Latest[State]
	// OperandConditions are the types and parts that describe operands; they are removed while closed,
	// because Disabled hides no Degraded and no Progressing.
	OperandConditions []string
	Recorder          events.Recorder
}

type controller struct{ Config }

// New returns the controller that writes the condition Disabled=True, reason Removed, NoCephCluster,
// NoFilesystem, WaitingForCeph or ForeignCSIDriver, and removes it when it no longer holds;
// and CSIDriverManaged=False, reason ForeignCSIDriver, likewise.
func New(config Config) factory.Controller {
	c := &controller{config}
	return factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(
			c.Operator.Informer(), c.Secrets.Informer(), c.Deployments.Informer(),
			c.DaemonSets.Informer(), c.CSIDrivers.Informer(), c.Filesystem,
		).
		WithInformers(c.Triggers...).
		WithFilteredEventsInformers(c.ofDriver, c.PersistentVolumes.Informer()).
		ToController(controllerName, c.Recorder)
}

func (c *controller) ofDriver(object any) bool {
	volume, ok := ctrl.Object(object).(*corev1.PersistentVolume)
	return ok && c.Driver.Serves(volume)
}

func (c *controller) sync(ctx context.Context, _ factory.SyncContext) error {
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
func (c *controller) report(ctx context.Context, state State) error {
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
