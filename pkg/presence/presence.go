// Package presence shows in Ceph that the cluster lives: while the operator runs, it watches an object
// in every pool that its cluster uses, and answers whoever asks there. Ceph ends the watches of a
// process that has died after 30 seconds. A teardown asks first, and so does the operator of another
// cluster with the same infra ID, which would take this one's volumes for its own.
package presence

import (
	"context"
	"errors"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

const (
	// checkInterval is how soon a watch that was lost is taken again. Looking asks nobody.
	checkInterval = 10 * time.Second
	// lookInterval is how often others are asked for, and a pool is tried again that may not be watched.
	lookInterval = 30 * time.Second
	// renewInterval is how often the object is written, whose time says when the cluster was last seen.
	renewInterval = 24 * time.Hour
	// deadline bounds each thing that is done in one Ceph cluster at a time.
	deadline = 45 * time.Second
	// parallel is in how many of its pools a watch is taken at the same time: half of what a connection
	// does, so that silent pools leave the rest to others.
	parallel = 4
)

// Cluster is what is needed of a connection to Ceph. A connection that was closed holds no watch.
type Cluster interface {
	Watch(ctx context.Context, pool, object string, answer []byte, create bool) (ceph.Watch, error)
	Watchers(ctx context.Context, pool, object string) ([]ceph.Watcher, error)
	RemoveWatched(ctx context.Context, pool, object string) error
	ClientAddress() string
}

// Config is what the controller works with.
type Config struct {
	ctrl.Env
	// Client returns the live connection to a Ceph cluster; false while there is none.
	Client   func(fsid string) (Cluster, bool)
	Clusters *ctrl.Latest[[]ceph.Cluster]
	// Used are the pools to watch in, by fsid. In a Ceph cluster that is missing, all stays as it is.
	Used *ctrl.Latest[map[string][]string]
	// Host is where the process runs, for people.
	Host string
}

type controller struct {
	Config
	name string
	// self is who answers, but for its address.
	self ceph.Presence
	// held is what is held in each Ceph cluster, by fsid.
	held map[string]*holding
	// told is the newest event.
	told string
}

// New builds the controller <ConditionPrefix>PresenceController. It writes two conditions that no
// aggregation counts, and that are absent while all is well: InfraIDUnshared, with the reason
// InfraIDShared, and PresenceShown, with AccessDenied. While the CR is not Managed it goes on watching
// what is there to be watched, and writes no object in Ceph.
func New(config Config) factory.Controller {
	c := &controller{
		Config: config, name: config.Driver.ConditionPrefix + "PresenceController", held: map[string]*holding{},
		self: ceph.Presence{Driver: config.Driver.Name, Instance: string(uuid.NewUUID()), Host: config.Host, Since: config.Clock.Now().UTC().Truncate(time.Second)},
	}
	return config.Factory(c.name, c.sync).
		ResyncEvery(time.Minute).
		WithInformers(config.Clusters, config.Used, config.Infrastructures.Informer()).
		ToController(c.name, config.Recorder)
}

func (c *controller) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	infraID, err := ctrl.InfraID(c.Infrastructures.Lister())
	if errors.Is(err, ctrl.ErrNoInfraID) {
		return nil // Who needs it most reports it.
	}
	if err != nil {
		return err
	}
	clusters, _ := c.Clusters.Get()
	used, _ := c.Used.Get()
	var errs []error
	for _, cluster := range clusters {
		client, live := c.Client(cluster.FSID)
		pools, known := used[cluster.FSID]
		if !live || !known {
			continue
		}
		w := want{client: client, pools: pools, object: ceph.PresenceObject(infraID, c.Driver.Kind), create: state == operatorv1.Managed}
		errs = append(errs, c.visit(ctx, cluster.FSID, w))
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, checkInterval)
	return errors.Join(append(errs, c.report(ctx, clusters, infraID))...)
}

// visit holds what is to be held in one Ceph cluster, and asks for others.
func (c *controller) visit(ctx context.Context, fsid string, w want) error {
	self := c.self
	self.Address = w.client.ClientAddress()
	var err error
	if w.answer, err = self.Encode(); err != nil {
		return err
	}
	h := c.held[fsid]
	if h == nil {
		h = &holding{clock: c.Clock}
		c.held[fsid] = h
	}
	h.follow(ctx, w)
	if err := h.keep(ctx, w); err != nil {
		return fmt.Errorf("in Ceph cluster %s: %w", fsid, err)
	}
	if c.Clock.Since(h.asked) < lookInterval {
		return nil
	}
	h.asked = c.Clock.Now()
	return h.ask(ctx, w, c.self.Instance)
}
