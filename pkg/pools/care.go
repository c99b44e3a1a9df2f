package pools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	careName = "CephPoolsInUse"
	// careInterval is how often pools are looked at without news, watchInterval how often
	// filesystems in use are, and everything while something is missing.
	careInterval  = time.Minute
	watchInterval = 10 * time.Second
	// careDeadline bounds one look at one Ceph cluster; each mark of a pool takes a second.
	careDeadline = time.Minute
	// markReserve is the time that marking one pool may take when Ceph is slow.
	markReserve = 20 * time.Second
	// settling is how long after the start a Ceph cluster may be unknown because its connection
	// is not there yet.
	settling = 20 * time.Second
)

// Cluster is what the care for pools in use needs of a connection to Ceph.
type Cluster interface {
	driver.Ceph
	Marker
	driver.Catalog
	CreateNamespace(ctx context.Context, pool, namespace string) error
	// Capacities are how full the pools are.
	Capacities(ctx context.Context) ([]ceph.Capacity, error)
}

// Proof proves that something is no longer used; who has it among its informers wakes after each look.
type Proof interface {
	factory.Informer
	// Wait says whether something of who's waits to be withdrawn: nobody looks otherwise.
	Wait(who string, waits bool)
	// Since returns what was in use in any of the looks that prove that something else is not, of which
	// no use is known since a time. The error is why there are none.
	Since(time.Time) ([]usage.Usage, error)
	// Get returns when the last look was taken.
	Get() (time.Time, bool)
}

// CareConfig is all that the controller of pools in use works with.
type CareConfig struct {
	ctrl.Env
	// Client returns the live connection to a Ceph cluster; false while there is none.
	Client   func(fsid string) (Cluster, bool)
	Clusters *ctrl.Latest[[]ceph.Cluster]
	// Usage is empty until all classes, volumes and snapshots are known; Unknown is why they cannot
	// be.
	Usage   *ctrl.Latest[usage.Usage]
	Unknown func() error
	// Proof is asked before anything is released.
	Proof Proof
	// Placement is where the default StorageClass's volumes go; Open says that there is to be one, as the driver is to
	// be deployed.
	Placement *ctrl.Latest[ceph.Placement]
	Open      func() bool
	// Minted says whether the driver works with users that the operator has made.
	Minted *ctrl.Latest[bool]
	// Triggers wake the controller when Open may have changed.
	Triggers []factory.Informer
}

// Care is the controller of pools in use, and what it has found.
type Care struct {
	factory.Controller
	CareConfig
	// Problems is what keeps StorageClasses from working, in sorted sentences.
	Problems ctrl.Latest[[]string]
	Report   ctrl.Latest[Report]
	// Capacities is what is in the pools in use.
	Capacities ctrl.Latest[Capacities]
	// Used are the names, sorted, of the pools in use in which the operator shows that it runs, by
	// fsid. A Ceph cluster of which they are not known yet is left out.
	Used ctrl.Latest[map[string][]string]

	started time.Time
	// seen is what is known of each Ceph cluster, by fsid; it survives outages.
	seen map[string]*view
	// asked is what the last looks were for: another question has all of them taken again.
	asked string
	// tell writes a warning event about a StorageClass. before is how often the same was told
	// earlier, and then mended, in the life of this process.
	tell func(ctx context.Context, class, message string, before int) error
	// told is the newest event about each class, times how often each event was written.
	told  map[string]string
	times map[classProblem]int
}

// NewCare returns the controller of the pools that StorageClasses name and volumes are in. It
// reports what is missing, creates pools where the settings ask for that, and keeps pools in
// use from removal. It writes PoolsProtected, VolumePlacesPresent and LegacyVolumes, which no
// aggregation counts.
func NewCare(config CareConfig) *Care {
	c := &Care{CareConfig: config, started: config.Clock.Now(), seen: map[string]*view{}, told: map[string]string{}, times: map[classProblem]int{}}
	c.tell = c.warn
	c.Controller = c.Factory(careName, c.sync).
		ResyncEvery(careInterval).
		WithInformers(c.Clusters, c.Usage, c.Placement, c.Proof, c.Infrastructures.Informer()).
		WithInformers(c.Triggers...).
		ToController(careName, c.Recorder)
	return c
}

func (c *Care) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	clusters, connected := c.Clusters.Get()
	used, known := c.Usage.Get()
	if !connected || state != operatorv1.Managed {
		c.Proof.Wait(careName, false)
	}
	if !connected {
		return nil
	}
	infraID, err := ctrl.InfraID(c.Infrastructures.Lister())
	if err != nil {
		return err
	}
	if state != operatorv1.Managed {
		return c.observe(ctx, clusters, infraID)
	}
	if !known {
		return errors.Join(c.observe(ctx, clusters, infraID), c.unknown(ctx))
	}
	settings, err := c.Settings()
	if err != nil {
		return nil // The other controller of this package reports it; nothing is done on a guess.
	}
	want := c.demand(used, settings, infraID)
	if text := want.text(); text != c.asked {
		c.asked = text
		for _, v := range c.seen {
			v.outdated = true
		}
	}
	wait := careInterval
	for _, cluster := range clusters {
		wait = min(wait, c.visit(ctx, cluster, want))
	}
	c.Proof.Wait(careName, slices.ContainsFunc(slices.Collect(maps.Values(c.seen)), func(v *view) bool { return len(v.unused) > 0 }))
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
	c.tellUsed(clusters)
	return c.conclude(ctx, clusters, want)
}

// visit looks at one Ceph cluster if that is due, and returns when to look again. A cluster that
// does not answer keeps its last findings: pkg/connection tells of that.
func (c *Care) visit(ctx context.Context, cluster ceph.Cluster, want demand) time.Duration {
	client, live := c.Client(cluster.FSID)
	if !live {
		return watchInterval
	}
	v := c.view(cluster.FSID)
	watched := c.Driver.NeedsFilesystem && len(want.usage.In(cluster)) > 0
	proven, _ := c.Proof.Get()
	if wait := v.due(client, c.Clock.Now(), proven, watched); wait > 0 {
		return wait
	}
	ctx, cancel := context.WithTimeout(ctx, careDeadline)
	defer cancel()
	l := look{Care: c, client: client, demand: want, cluster: cluster, view: v}
	err := l.run(ctx)
	if ceph.NoAnswer(err) {
		return watchInterval
	}
	if l.used != nil {
		v.used = l.used
	}
	if err != nil {
		l.found.trouble = append(l.found.trouble, c.trouble(cluster, err))
	}
	v.client, v.at, v.proven, v.outdated, v.found = client, c.Clock.Now(), proven, false, &l.found
	return v.due(client, c.Clock.Now(), proven, watched)
}

// warn is for `oc describe` of a StorageClass.
func (c *Care) warn(ctx context.Context, class, message string, before int) error {
	object, err := c.StorageClasses.Lister().Get(class)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading StorageClass %s: %w", class, err)
	}
	about := corev1.ObjectReference{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass", Name: class, UID: object.UID}
	return c.Warn(ctx, about, "CephPlaceMissing", message, before)
}
