// Package connection holds the live connection to the Ceph cluster that an administrator
// declared in Secret ceph-credentials, and follows its monmap.
package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/latest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// SecretName is the Secret in driver.Namespace that declares the Ceph cluster.
const SecretName = "ceph-credentials"

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
	// dialTimeout leaves librados the time to try all mons, then each one alone.
	dialTimeout = 60 * time.Second
	// redialInterval is the pause after a declaration has failed, as long as it is the same.
	redialInterval = 10 * time.Second
)

// Session is a connection to a Ceph cluster as this package uses it.
type Session interface {
	MonMap(ctx context.Context) (ceph.MonMap, error)
	// Close ends the session; later calls return ceph.ErrClosed.
	Close()
}

// Config is what a Connection works with.
type Config[S Session] struct {
	Driver     driver.Driver
	Operator   v1helpers.OperatorClient
	Client     corev1client.ConfigMapsGetter
	Secrets    coreinformers.SecretInformer
	ConfigMaps coreinformers.ConfigMapInformer
	// Dial connects to the Ceph cluster that source.Monitors lead to; source.FSID is empty.
	Dial func(ctx context.Context, source ceph.Source) (S, error)
	// Resolve finds the addresses of mons that are declared by name.
	Resolve ceph.Resolver
	// Cluster is where the newest cluster is published; it is never cleared.
	Cluster *latest.Value[ceph.Cluster]
	// Clusters is where the newest state of every connected Ceph cluster is published, ordered
	// by fsid; one that falls silent stays.
	Clusters *latest.Value[[]ceph.Cluster]
	// Consent returns spec.driverConfig.ceph.cluster: the fsid that the administrator named.
	Consent func() string
	// Wanted says whether the driver is to be deployed; not known while pkg/gate has yet to decide.
	Wanted   func() (wanted, known bool)
	Clock    clock.WithTicker
	Recorder events.Recorder
}

// Connection is the controller <ConditionPrefix>ConnectionController. It reads Secret
// ceph-credentials and the ConfigMap of pkg/state, connects, and each 5 seconds publishes
// what the monmap says, in Config.Cluster and in the ConfigMap. A changed Secret replaces
// the connection only once the new one works. While the CR is not Managed it goes on
// reading, but writes conditions only.
//
// It produces the condition CephConnectionDegraded, with the reasons AsExpected,
// CredentialsMissing (only where the driver is wanted), CredentialsInvalid,
// AccessDenied, CephUnreachable, WrongCluster and SyncError. Until the first answer or
// refusal of Ceph it writes none: neither value would be known to be true, and after a
// restart the last one still stands.
type Connection[S Session] struct {
	factory.Controller
	config Config[S]
	record state.Record[state.Cluster]

	mu   sync.Mutex // guards live, which Client reads; sync is its only writer
	live *live[S]

	// failed is the declaration that led nowhere; nil when the newest one is in use.
	failed *attempt
}

// New builds the controller. Its Run must be called itself, not by way of Sync: it closes
// the session at the end.
func New[S Session](config Config[S]) *Connection[S] {
	c := &Connection[S]{
		config: config,
		record: state.Clusters(config.Client, config.ConfigMaps.Lister(), config.Driver),
	}
	c.Controller = factory.New().
		WithSync(c.sync).
		WithInformers(config.Operator.Informer()).
		WithFilteredEventsInformers(factory.NamesFilter(SecretName), config.Secrets.Informer()).
		WithBareInformers(config.ConfigMaps.Informer()).
		WithPostStartHooks(c.tick).
		ToController(config.Driver.ConditionPrefix+"ConnectionController", config.Recorder)
	return c
}

// Run runs the controller until ctx ends, then closes the session. There is one worker,
// whatever is asked for.
func (c *Connection[S]) Run(ctx context.Context, _ int) {
	defer c.replace(nil)
	c.Controller.Run(ctx, 1)
}

// Client returns the live session to the Ceph cluster fsid; false when there is none. Ask
// anew for each use: a session that was replaced is closed.
func (c *Connection[S]) Client(fsid string) (S, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live == nil || fsid == "" || c.live.cluster.FSID != fsid {
		var none S
		return none, false
	}
	return c.live.session, true
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

func (c *Connection[S]) sync(ctx context.Context, _ factory.SyncContext) error {
	spec, _, _, err := c.config.Operator.GetOperatorState()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading ClusterCSIDriver %s: %w", c.config.Driver.Name, err)
	}
	managed := spec.ManagementState == operatorv1.Managed
	f, err := c.gather()
	if err != nil {
		// Only a person can mend that: no retry.
		return c.report(ctx, verdict{condition.SyncError, err.Error()})
	}
	steps := decide(f)
	if steps.poll {
		c.poll(ctx, f.identity)
	}
	if steps.dial {
		c.dial(ctx, f, managed)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := c.remember(ctx, managed); err != nil {
		return errors.Join(err, c.report(ctx, verdict{condition.SyncError, err.Error()}))
	}
	v, known := c.judge(f)
	if !known {
		return nil
	}
	return c.report(ctx, v)
}

func (c *Connection[S]) report(ctx context.Context, v verdict) error {
	degraded := condition.Good(condition.ConnectionDegraded)
	if v.bad() {
		degraded = condition.New(condition.ConnectionDegraded, operatorv1.ConditionTrue, v.reason, v.message)
	}
	status := applyoperatorv1.OperatorStatus().WithConditions(degraded)
	if err := c.config.Operator.ApplyOperatorStatus(ctx, c.Name(), status); err != nil {
		return fmt.Errorf("writing condition %s: %w", condition.ConnectionDegraded, err)
	}
	return nil
}
