// Package nodes tells which nodes cannot mount volumes, and why. It asks the API server for pods and
// nodes only while the DaemonSet says that pods are missing, or fewer kubelets than pods know the driver.
package nodes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	storageinformers "k8s.io/client-go/informers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// again is how often they are looked at while some are.
	again = 30 * time.Second
	// seldom is how often nodes that settings leave out are counted: they come and go without a pod.
	seldom = 5 * time.Minute
)

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	// CSINodes have what the kubelets know, trimmed by TrimCSINode.
	CSINodes storageinformers.CSINodeInformer
}

// Controller tells of nodes that cannot mount volumes.
type Controller struct {
	factory.Controller
	Config
	// Report is how many there are, at once and without the condition's patience; one that is told counts
	// until it is told no more.
	Report ctrl.Latest[Report]

	name string
	// registered is how many kubelets know the driver.
	registered func() (int, error)
	// find looks at all nodes.
	find   func(context.Context, *appsv1.DaemonSet) (Found, error)
	spells spells
	// began is when it looked first, of and desired which DaemonSet it was, and for how many nodes.
	began   time.Time
	of      types.UID
	desired int32
}

// New returns the controller <ConditionPrefix>NodesController. It writes the condition NodesServed, with
// the reasons NodesNotServed and NodesNotReady, while nodes cannot mount volumes for longer than a
// minute, and until they can for half a minute, and with the reason NodesLeftOut while settings leave
// nodes without the driver; otherwise the condition is absent. While that is so of all nodes, it writes
// NodesDegraded, too.
func New(config Config) *Controller {
	c := &Controller{Config: config, name: config.Driver.ConditionPrefix + "NodesController", spells: spells{}}
	kubelets := Registrations{Driver: config.Driver, CSINodes: config.CSINodes.Lister()}
	c.registered, c.find = kubelets.Count, NewLook(config.Kube, config.Clock, kubelets.Has).Find
	c.Controller = config.Factory(c.name, c.sync).
		WithInformers(config.DaemonSets.Informer(), config.CSINodes.Informer()).
		ToController(c.name, config.Recorder)
	return c
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext, _ operatorv1.ManagementState) error {
	daemonSet, err := c.DaemonSets.Lister().DaemonSets(driver.Namespace).Get(c.Driver.NodeName())
	if apierrors.IsNotFound(err) {
		c.Report.Clear()
		return c.report(ctx, 0, Found{})
	}
	if err != nil {
		return fmt.Errorf("reading DaemonSet %s: %w", c.Driver.NodeName(), err)
	}
	registered, err := c.registered()
	if err != nil {
		return err
	}
	desired := daemonSet.Status.DesiredNumberScheduled
	served := daemonSet.Status.NumberAvailable >= desired && registered >= int(desired)
	var found Found
	if !served || narrowed(daemonSet.Spec.Template.Spec) {
		if found, err = c.find(ctx, daemonSet); err != nil {
			return err
		}
		syncCtx.Queue().AddAfter(syncCtx.QueueKey(), nextLook(served, found))
	}
	if served {
		found.Unserved = nil // An answer of a moment ago.
	}
	c.remember(daemonSet, found.Unserved)
	told := c.spells.told()
	c.Report.Set(count(daemonSet, found.LeftOut, c.spells.counted()))
	if rest, needed := c.spells.rest(c.Clock.Now()); needed {
		syncCtx.Queue().AddAfter(syncCtx.QueueKey(), rest)
	}
	if stands, err := c.stands(); err != nil || stands {
		return err
	}
	found.Unserved = told
	return c.report(ctx, desired, found)
}

// remember forgets what was seen of another DaemonSet, and nodes that were served again, one of which may be
// gone, or left out.
func (c *Controller) remember(daemonSet *appsv1.DaemonSet, unserved []Unserved) {
	now, desired := c.Clock.Now(), daemonSet.Status.DesiredNumberScheduled
	if c.began.IsZero() {
		c.began = now
	}
	if daemonSet.UID != c.of {
		clear(c.spells)
	}
	c.spells.see(now, unserved)
	if desired < c.desired {
		c.spells.forgetServed()
	}
	c.of, c.desired = daemonSet.UID, desired
}

// stands says that what a former process said of nodes is not to be taken back, because this one has not
// looked for long enough.
func (c *Controller) stands() (bool, error) {
	if !c.spells.pending() || c.Clock.Since(c.began) >= patience {
		return false, nil
	}
	_, status, _, err := c.Operator.GetOperatorState()
	if err != nil {
		return false, fmt.Errorf("reading what ClusterCSIDriver %s says of nodes: %w", c.Driver.Name, err)
	}
	return v1helpers.IsOperatorConditionFalse(status.Conditions, condition.NodesServed), nil
}

// Unserved are the nodes of a DaemonSet that miss a pod.
func (c *Controller) Unserved(ctx context.Context, daemonSet *appsv1.DaemonSet) ([]Unserved, error) {
	found, err := c.find(ctx, daemonSet)
	return found.Unserved, err
}

// nextLook is how long after a look at the nodes the next one is needed, while it is at all.
func nextLook(served bool, found Found) time.Duration {
	if !served || found.Leaving {
		return again
	}
	return seldom
}

func count(daemonSet *appsv1.DaemonSet, leftOut []string, unserved []Unserved) Report {
	out := Report{Served: max(0, int(daemonSet.Status.DesiredNumberScheduled)-len(unserved)), LeftOut: len(leftOut)}
	for _, u := range unserved {
		if isOut(u) {
			out.NotReady++
		} else {
			out.NotServed++
		}
	}
	return out
}

func (c *Controller) report(ctx context.Context, desired int32, found Found) error {
	return condition.Say(ctx, c.Operator, c.name, nil, none(c.Driver.Name, desired, found), some(c.Driver.Name, desired, found))
}

// none is bad while no node at all is served, by what is told of them, unless all are away.
func none(name string, desired int32, found Found) *condition.Said {
	reason := reasonOf(found.Unserved)
	switch {
	case found.Wanted == 0 && len(found.LeftOut) > 0 && !found.Leaving:
		return condition.New(condition.NodesDegraded, operatorv1.ConditionTrue, condition.NodesLeftOut, leftOutMessage(name, found))
	case desired > 0 && len(found.Unserved) >= int(desired) && reason == condition.NodesNotServed:
		return condition.New(condition.NodesDegraded, operatorv1.ConditionTrue, reason, message(name, desired, found.Unserved))
	}
	return condition.Good(condition.NodesDegraded)
}

func reasonOf(unserved []Unserved) string {
	if slices.ContainsFunc(unserved, func(u Unserved) bool { return !isOut(u) }) {
		return condition.NodesNotServed
	}
	return condition.NodesNotReady
}

// some tells of nodes that are not served.
func some(name string, desired int32, found Found) *condition.Said {
	unserved, leftOut := found.Unserved, leftOutMessage(name, found)
	if len(unserved) == 0 && leftOut == "" {
		return condition.Absent(condition.NodesServed)
	}
	if len(unserved) == 0 {
		return condition.New(condition.NodesServed, operatorv1.ConditionTrue, condition.NodesLeftOut, leftOut)
	}
	return condition.New(condition.NodesServed, operatorv1.ConditionFalse, reasonOf(unserved), strings.TrimSpace(message(name, desired, unserved)+"\n"+leftOut))
}
