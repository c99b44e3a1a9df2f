// Package status tells people and Prometheus what the operator knows: a ConfigMap that is
// rewritten when something changed, and metrics that are read when they are asked for. Nothing
// rests on either; both can be rebuilt at any time.
package status

import (
	"context"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/connection"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/credentials"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

const (
	controllerName = "CephStatus"
	// key of the ConfigMap.
	key = "status.yaml"
	// settle is how long nothing more must change before a change is written, patience how long
	// a change waits at most: a start tells ten things one after the other.
	settle   = 3 * time.Second
	patience = time.Minute
	// deadline bounds a request.
	deadline = 10 * time.Second
)

// Sources are the values that the features publish. One that is empty says that its feature has
// nothing to tell yet.
type Sources struct {
	Clusters    *ctrl.Latest[[]ceph.Cluster]
	Connections *ctrl.Latest[[]connection.Report]
	Users       *ctrl.Latest[credentials.Users]
	Pools       *ctrl.Latest[pools.Report]
	MonSync     *ctrl.Latest[monitors.Sync]
	WrittenMons *ctrl.Latest[monitors.Written]
	Tags        *ctrl.Latest[tags.Report]
	Usage       *ctrl.Latest[usage.Usage]
	Placement   *ctrl.Latest[ceph.Placement]
	Machines    *ctrl.Latest[virtualization.Machines]
	// Nodes and Capacities are in the metrics alone: the ConfigMap would be written for each pod that
	// starts, and for each block.
	Nodes      *ctrl.Latest[nodes.Report]
	Capacities *ctrl.Latest[pools.Capacities]
	// Expiries are the ends of serving certificates that are made here, by Secret.
	Expiries func() map[string]time.Time
}

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	Sources
}

type controller struct {
	Config
	// waiting is the text that is to be written, since when there is one and since when it is
	// this one.
	waiting           string
	since, unchanging time.Time
}

// New returns the controller that writes the status ConfigMap. It writes no condition: nothing
// rests on the ConfigMap.
func New(config Config) factory.Controller {
	c := &controller{Config: config}
	return factory.New().
		WithSync(c.WithCR(c.sync)).
		WithControllerInstanceName(controllerName).
		WithInformers(c.Clusters, c.Connections, c.Users, c.Pools, c.Tags, c.Usage, c.Placement, c.Machines).
		WithFilteredEventsInformers(ctrl.Named(c.Driver.StatusConfigMap()), c.ConfigMaps.Informer()).
		WithInformers(ctrl.SpecChanges(c.Operator.Informer())).
		ToController(controllerName, c.Recorder)
}

func (c *controller) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	clusters, _ := c.Clusters.Get()
	if len(clusters) == 0 || state != operatorv1.Managed {
		return nil // What an earlier process wrote stays.
	}
	wanted, err := render(c.facts(c.Driver, clusters))
	if err != nil {
		return err
	}
	held, err := c.ConfigMaps.Lister().ConfigMaps(driver.Namespace).Get(c.Driver.StatusConfigMap())
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("reading ConfigMap %s: %w", c.Driver.StatusConfigMap(), err)
	}
	if err == nil && held.Data[key] == wanted {
		c.waiting = ""
		return nil
	}
	if wait := c.wait(wanted); wait > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	return c.write(ctx, wanted)
}

// wait is how long to wait before wanted is written.
func (c *controller) wait(wanted string) time.Duration {
	now := c.Clock.Now()
	if c.waiting == "" {
		c.since = now
	}
	if c.waiting != wanted {
		c.waiting, c.unchanging = wanted, now
	}
	return min(settle-now.Sub(c.unchanging), patience-now.Sub(c.since))
}

func (c *controller) write(ctx context.Context, wanted string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	name := c.Driver.StatusConfigMap()
	configMap := applycorev1.ConfigMap(name, driver.Namespace).WithData(map[string]string{key: wanted})
	options := metav1.ApplyOptions{FieldManager: c.Driver.FieldManager(controllerName), Force: true}
	if _, err := c.Kube.CoreV1().ConfigMaps(driver.Namespace).Apply(ctx, configMap, options); err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", driver.Namespace, name, err)
	}
	c.waiting = ""
	return nil
}

func (s Sources) facts(d driver.Driver, clusters []ceph.Cluster) facts {
	out := facts{driver: d.Name, clusters: clusters}
	out.connections, _ = s.Connections.Get()
	out.users, _ = s.Users.Get()
	out.pools, _ = s.Pools.Get()
	out.tags, _ = s.Tags.Get()
	out.usage, _ = s.Usage.Get()
	out.placement, _ = s.Placement.Get()
	out.machines, _ = s.Machines.Get()
	return out
}
