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
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	storageinformers "k8s.io/client-go/informers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	// patience is how long a node may be unserved before it is told: pods start, and are replaced.
	patience = time.Minute
	// calm is how long it must be served again before it is told no more: a pod that crashes is ready for a moment each time.
	calm = 30 * time.Second
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
	// Report is how many there are, at once and without the condition's patience.
	Report ctrl.Latest[Report]

	name string
	// registered is how many kubelets know the driver.
	registered func() (int, error)
	// find looks at all nodes.
	find func(context.Context, *appsv1.DaemonSet) (Found, error)
	// spells are of the nodes that are not served, or were not a moment ago.
	spells map[string]spell
}

// spell is a time in which a node is not served, or only for a moment.
type spell struct {
	// Unserved is how it was seen last.
	Unserved
	// since is when it was seen first.
	since time.Time
	// served is since when it is served again; zero while it is not.
	served time.Time
	// told says that it was unserved for so long that the condition tells of it.
	told bool
}

// New returns the controller <ConditionPrefix>NodesController. It writes the condition NodesServed, with
// the reasons NodesNotServed and NodesNotReady, while nodes cannot mount volumes for longer than a
// minute, and until they can for half a minute, and with the reason NodesLeftOut while settings leave nodes without the driver; otherwise the
// condition is absent.
func New(config Config) *Controller {
	c := &Controller{Config: config, name: config.Driver.ConditionPrefix + "NodesController", spells: map[string]spell{}}
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
	c.Report.Set(count(daemonSet, found))
	found.Unserved = c.lasting(found.Unserved)
	if served && len(c.spells) > 0 {
		syncCtx.Queue().AddAfter(syncCtx.QueueKey(), calm)
	}
	return c.report(ctx, desired, found)
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

func count(daemonSet *appsv1.DaemonSet, found Found) Report {
	out := Report{Served: max(0, int(daemonSet.Status.DesiredNumberScheduled)-len(found.Unserved)), LeftOut: len(found.LeftOut)}
	for _, u := range found.Unserved {
		if isOut(u) {
			out.NotReady++
		} else {
			out.NotServed++
		}
	}
	return out
}

// lasting are those that were unserved for long enough, and have not been served for long since.
func (c *Controller) lasting(unserved []Unserved) []Unserved {
	now := c.Clock.Now()
	for _, u := range unserved {
		s, known := c.spells[u.Node]
		if !known {
			s.since = now
		}
		s.Unserved, s.served, s.told = u, time.Time{}, s.told || now.Sub(s.since) >= patience
		c.spells[u.Node] = s
	}
	var out []Unserved
	for node, s := range c.spells {
		back := !slices.ContainsFunc(unserved, func(u Unserved) bool { return u.Node == node })
		switch {
		case back && s.served.IsZero():
			s.served = now
			c.spells[node] = s
		case back && now.Sub(s.served) >= calm:
			delete(c.spells, node)
			continue
		}
		if s.told {
			out = append(out, s.Unserved)
		}
	}
	slices.SortFunc(out, byNode)
	return out
}

func (c *Controller) report(ctx context.Context, desired int32, found Found) error {
	return condition.Say(ctx, c.Operator, c.name, nil, none(c.Driver.Name, desired, found.Unserved), some(c.Driver.Name, desired, found))
}

// none is bad while no node at all is served, unless all are away.
func none(name string, desired int32, unserved []Unserved) *condition.Said {
	if reason := reasonOf(unserved); desired > 0 && len(unserved) >= int(desired) && reason == condition.NodesNotServed {
		return condition.New(condition.NodesDegraded, operatorv1.ConditionTrue, reason, message(name, desired, unserved))
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
	unserved, leftOut := found.Unserved, leftOutMessage(name, desired, found.LeftOut)
	if len(unserved) == 0 && leftOut == "" {
		return condition.Absent(condition.NodesServed)
	}
	if len(unserved) == 0 {
		return condition.New(condition.NodesServed, operatorv1.ConditionTrue, condition.NodesLeftOut, leftOut)
	}
	return condition.New(condition.NodesServed, operatorv1.ConditionFalse, reasonOf(unserved), strings.TrimSpace(message(name, desired, unserved)+"\n"+leftOut))
}
