// Package connection holds a live connection to each Ceph cluster that an administrator
// declared, and follows their monmaps. A link looks after one declaration, whatever happens to
// the others; Connection finds the declarations and decides on what the links found.
package connection

import (
	"context"
	"sync"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

const (
	// pollInterval is how often the monmap is read.
	pollInterval = 5 * time.Second
	// pollGap is how much later than the last poll the next one may be at the earliest:
	// syncs come for other reasons too, and every poll is a line in the mons' log.
	pollGap = pollInterval / 2
	// pollTimeout bounds one reading. It is shorter than an election after the death of the
	// leading mon (15 seconds), so that a changed Secret need not wait for that.
	pollTimeout = 10 * time.Second
	// outage is how long Ceph may be silent before that is a condition: elections are not.
	outage = 20 * time.Second
	// deaf is how long a session may be silent until another one is tried, and then until the next.
	// librados finds another mon within seconds, unless it has lost them all for good.
	deaf = 30 * time.Second
	// dialTimeout leaves librados the time to try all mons, then each one alone.
	dialTimeout = 60 * time.Second
	// redialInterval is the pause after a declaration has failed, as long as it is the same.
	redialInterval = 10 * time.Second
	// versionInterval is how often Ceph's versions are asked for.
	versionInterval = 10 * time.Minute
	// workers is how many Ceph clusters may be waited for at a time without delaying others.
	workers = 8
)

// Session is a connection to a Ceph cluster as this package uses it.
type Session interface {
	MonMap(ctx context.Context) (ceph.MonMap, error)
	Versions(ctx context.Context) (ceph.Versions, error)
	// Close ends the session; later calls return ceph.ErrClosed.
	Close()
}

// Config is what a Connection works with.
type Config[S Session] struct {
	ctrl.Env
	// Dial connects to the Ceph cluster that source.Monitors lead to; source.FSID is empty.
	Dial func(ctx context.Context, source ceph.Source) (S, error)
	// Resolve finds the addresses of mons that are declared by name.
	Resolve ceph.Resolver
	// Wanted says whether the driver is to be deployed; not known while pkg/gate has yet to decide.
	Wanted func() (wanted, known bool)
}

// Connection is the controller <ConditionPrefix>ConnectionController. It reads Secret
// ceph-credentials, Secrets with driver.ClusterLabel, Rook's objects in the namespace that the
// settings name, and the ConfigMap of pkg/state, connects to each Ceph cluster, and each 5
// seconds publishes what the monmaps say, in Clusters and in the ConfigMap, and in
// Cluster that of the Ceph cluster which the default classes use. A changed declaration
// replaces a connection only once the new one works. While the CR is not Managed it goes on
// reading, but writes conditions only.
//
// It produces the condition CephConnectionDegraded, with the reasons AsExpected,
// CredentialsMissing (only where the driver is wanted), CredentialsInvalid, AccessDenied,
// CephUnreachable, WrongCluster, SeveralClusters, Forbidden and SyncError; and CephSourcesUsed,
// with AsExpected and DuplicateCluster; and CephReleaseUpgradeable with CephTooOld, which stands until all Ceph clusters have told a release
// that is new enough. Until the first answer or refusal of Ceph it writes
// none: neither value would be known to be true, and after a restart the last one still stands.
type Connection[S Session] struct {
	factory.Controller
	// Cluster is the newest state of the Ceph cluster of the default classes; it is never cleared.
	Cluster ctrl.Latest[ceph.Cluster]
	// Clusters is the newest state of every connected Ceph cluster, ordered by fsid; one that falls silent stays.
	Clusters ctrl.Latest[[]ceph.Cluster]
	// Reports is the state of every connection.
	Reports ctrl.Latest[[]Report]

	config   Config[S]
	record   state.Record[state.Cluster]
	rook     rook
	settings settings

	mu    sync.Mutex // guards links
	links map[string]*link[S]

	settling sync.Mutex // one worker at a time publishes and reports
}

// New builds the controller. Its Run must be called itself, not by way of Sync: it closes
// the sessions at the end.
func New[S Session](config Config[S]) *Connection[S] {
	c := &Connection[S]{
		config:   config,
		record:   state.Clusters(config.Kube.CoreV1(), config.ConfigMaps.Lister(), config.Driver),
		rook:     rook{driver: config.Driver, client: config.Kube.CoreV1(), clock: config.Clock},
		settings: settings{read: config.Settings},
		links:    map[string]*link[S]{},
	}
	c.Controller = factory.New().
		WithSync(c.sync).
		WithInformers(config.Operator.Informer()).
		WithFilteredEventsInformers(declares, config.Secrets.Informer()).
		WithBareInformers(config.ConfigMaps.Informer()).
		WithPostStartHooks(c.tick).
		ToController(config.Driver.ConditionPrefix+"ConnectionController", config.Recorder)
	return c
}

// Run runs the controller until ctx ends, then closes the sessions. The number of workers is
// its own, whatever is asked for.
func (c *Connection[S]) Run(ctx context.Context, _ int) {
	defer c.closeAll()
	c.Controller.Run(ctx, workers)
}

// Client returns the live session to the Ceph cluster fsid; false when there is none. Ask
// anew for each use: a session that was replaced is closed.
func (c *Connection[S]) Client(fsid string) (S, bool) {
	for _, l := range c.ordered() {
		if session, live := l.client(fsid); live {
			return session, true
		}
	}
	var none S
	return none, false
}

// tick triggers the polls. ResyncEvery would report each start of a controller with such a
// short interval as a warning event.
func (c *Connection[S]) tick(ctx context.Context, syncCtx factory.SyncContext) error {
	ticker := c.config.Clock.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		syncCtx.Queue().Add(factory.DefaultQueueKey)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// sync looks for sources, each of which has a queue key of its own: the queue keeps a source
// to one worker, and the workers keep sources apart.
func (c *Connection[S]) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	state, err := ctrl.ManagementState(c.config.Operator, c.config.Driver.Name)
	if err != nil || state == ctrl.NoCR {
		return err
	}
	managed := state == operatorv1.Managed
	l := c.linkOf(syncCtx.QueueKey())
	if l != nil && l.key == rookKey {
		c.rook.refresh(ctx, c.settings.get().RookNamespace, l.connected())
	}
	w, err := c.gather()
	if err != nil {
		// Only a person can mend that: no retry.
		return c.report(ctx, outcome{verdict: verdict{condition.SyncError, err.Error()}, known: true})
	}
	if l == nil {
		for _, key := range c.arrange(w) {
			syncCtx.Queue().Add(key)
		}
		return c.settle(ctx, managed)
	}
	l.step(ctx, w.identity(l.key, c.views(w)), managed)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.settle(ctx, managed)
}
