// Package tags looks after the tags of volumes and snapshots: what lies in Ceph behind each
// PersistentVolume and VolumeSnapshotContent says which OpenShift cluster it belongs to, so that a
// teardown finds it. ceph-csi writes the tags of what it makes; this package adds those of older
// volumes, of static, restored and imported ones, and marks what is to outlive the cluster.
package tags

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	controllerName = "CephTags"
	// step is the time between two batches of driver.Driver.TagsPerSecond volumes.
	step = time.Second
	// lookPause is the least time between two looks at all PersistentVolumes: thousands of them
	// may change at once.
	lookPause = 3 * time.Second
	// batchDeadline bounds one batch of one Ceph cluster.
	batchDeadline = 45 * time.Second
	// retryOutage is how soon a Ceph cluster is asked again that did not answer, which
	// pkg/connection reports.
	retryOutage = 10 * time.Second
	// maxProblems bounds what is remembered of volumes in trouble, maxEvents the events about
	// them: after a mistake it may be all of them.
	maxProblems = 500
	maxEvents   = 50
)

// Config is all that the controller uses.
type Config struct {
	ctrl.Env
	// Client returns the live connection to a Ceph cluster; false while there is none.
	Client   func(fsid string) (driver.TagStore, bool)
	Clusters *ctrl.Latest[[]ceph.Cluster]
	// ClusterIDs are what the driver's config.json has for the clusterIDs of volumes.
	ClusterIDs func() ([]ceph.ConfigEntry, error)
	// Triggers wake the controller when Ours, or what is in use, may have changed.
	Triggers []factory.Informer
	// Attachments are asked for where a driver's DetachUntags.
	Attachments storageinformers.VolumeAttachmentInformer
	// Contents are the snapshots; where their CRD is missing, there are none.
	Contents Contents
	// Ours says that the driver that serves the volumes is this operator's. Another one has a
	// name of its own for the cluster, which is no reason for an event on each volume.
	Ours func() bool
}

// Controller looks after the tags.
type Controller struct {
	factory.Controller
	Config
	Report ctrl.Latest[Report]

	// news says that objects changed since the last look.
	news atomic.Bool
	mu   sync.Mutex
	// detached are the PersistentVolumes that were detached since then.
	detached map[string]bool
	seed     maphash.Seed

	book
	showing
	// due are the volumes that are to be looked at, by the fsid of their Ceph cluster.
	due map[string][]subject
	// looked, stepped and asked are when the last look, the last batch and, by fsid, the last
	// question without an answer were.
	looked, stepped time.Time
	silent          map[string]time.Time
	// known are the Ceph clusters and clusterIDs of the last look, places what it made of them.
	known  string
	places places
	// trouble is why snapshots were not known then.
	trouble error
	// told are the objects, by UID, about which there was an event.
	told map[string]bool
	// findings are those of the Ceph clusters, by fsid.
	findings map[string]finding
}

// New returns the controller of the volumes' tags, which are looked after whoever serves the volumes, so that
// a teardown finds them. In each connected Ceph cluster it reads the
// tags of the driver's volumes, TagsPerSecond of them each second, and writes what they lack. A
// volume that is as it should be is not read again for a day, unless its PersistentVolume changes, or it was
// detached by a driver that takes the cluster's name from it.
//
// Snapshots are looked after in the same way, and at the same pace together with the volumes.
//
// It writes the condition VolumesTagged, which no aggregation counts, with reasons AsExpected,
// ForeignTag, PlaceMissing, AccessDenied, VolumeMissing, Forbidden and SyncError, once it has looked at all.
func New(config Config) *Controller {
	c := &Controller{
		Config: config, seed: maphash.MakeSeed(), book: newBook(config.Clock.Now()), showing: newShowing(),
		due: map[string][]subject{}, silent: map[string]time.Time{}, told: map[string]bool{}, findings: map[string]finding{},
	}
	c.takeDetached()
	f := c.Factory(controllerName, c.sync)
	if c.Driver.DetachUntags {
		f.WithInformers(&detachments{c.Attachments.Informer(), c.heardDetached})
	}
	c.Controller = f.
		WithInformers(c.Clusters, c.Infrastructures.Informer()).
		WithInformers(ctrl.Only(c.Secrets.Informer(), c.Driver.ConfigSecret())).
		WithInformers(c.Triggers...).
		WithFilteredEventsInformers(c.changed, c.Contents).
		WithFilteredEventsInformers(c.isOurs, c.PersistentVolumes.Informer()).
		ToController(controllerName, c.Recorder)
	return c
}

func (c *Controller) isOurs(object any) bool {
	volume, ok := ctrl.Object(object).(*corev1.PersistentVolume)
	ours := ok && c.Driver.Serves(volume)
	if ours {
		c.news.Store(true)
	}
	return ours
}

// changed hears of every change of snapshots.
func (c *Controller) changed(any) bool {
	c.news.Store(true)
	return true
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext, state operatorv1.ManagementState) error {
	clusters, connected := c.Clusters.Get()
	if !connected || len(clusters) == 0 || state != operatorv1.Managed {
		return nil
	}
	infraID, err := ctrl.InfraID(c.Infrastructures.Lister())
	if err != nil {
		return err
	}
	if err := c.look(clusters); err != nil || c.looked.IsZero() {
		return err
	}
	if err := c.batch(ctx, clusters, infraID); err != nil {
		return err
	}
	syncCtx.Queue().AddAfter(factory.DefaultQueueKey, c.wait(clusters))
	if c.busy(clusters) {
		return nil
	}
	return c.conclude(ctx, clusters, infraID)
}

// busy says that there are volumes left to look at whose Ceph cluster answers.
func (c *Controller) busy(clusters []ceph.Cluster) bool {
	for _, cluster := range clusters {
		if len(c.due[cluster.FSID]) > 0 && c.quiet(cluster.FSID) == 0 {
			return true
		}
	}
	return false
}

// quiet is how long a Ceph cluster that did not answer is left alone.
func (c *Controller) quiet(fsid string) time.Duration {
	asked, failed := c.silent[fsid]
	if !failed {
		return 0
	}
	return max(0, retryOutage-c.Clock.Since(asked))
}

// wait is how long nothing is to be done.
func (c *Controller) wait(clusters []ceph.Cluster) time.Duration {
	now := c.Clock.Now()
	wait := max(c.nextDue.Sub(now), lookPause)
	if c.news.Load() {
		wait = lookPause
	}
	for _, cluster := range clusters {
		if len(c.due[cluster.FSID]) > 0 {
			wait = min(wait, max(c.quiet(cluster.FSID), step-now.Sub(c.stepped)))
		}
	}
	return wait
}
