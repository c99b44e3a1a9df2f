package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

const (
	controllerName = "CephUsage"
	resync         = 12 * time.Hour
	// lookPause is the least time between two looks at all volumes: thousands may come at once.
	lookPause = 2 * time.Second
)

// Config is what the controller works with.
type Config struct {
	ctrl.Env
	// ConfigJSON reads what the driver's pods know of clusterIDs.
	ConfigJSON func() ([]ceph.ConfigEntry, error)
}

// Controller publishes what is used.
type Controller struct {
	factory.Controller
	Config
	Usage ctrl.Latest[Usage]
	// Contents are followed while their CustomResourceDefinition is served.
	Contents *Contents
	last     pause
}

// New returns the controller that publishes what the OpenShift cluster uses of Ceph. It needs neither Ceph
// nor a ClusterCSIDriver, and publishes nothing before all classes, volumes and snapshots are in the cache.
func New(config Config) *Controller {
	c := &Controller{Config: config, Contents: NewContents(config.Dynamic, config.Clock, config.Driver)}
	c.Controller = factory.New().
		WithSync(c.sync).
		ResyncEvery(resync).
		WithControllerInstanceName(controllerName).
		WithInformers(c.StorageClasses.Informer(), c.PersistentVolumes.Informer(), c.Contents).
		WithInformers(c.CRDs, ctrl.Only(c.Secrets.Informer(), c.Driver.ConfigSecret())).
		ToController(controllerName, c.Recorder)
	return c
}

func (c *Controller) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	if err := c.Contents.Follow(ctx, c.servesContents()); err != nil {
		return err
	}
	snapshots, known := c.Contents.used()
	if !known {
		return nil // What only snapshots are in must not be released.
	}
	if wait := c.last.left(c.Clock, lookPause); wait > 0 {
		syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
		return nil
	}
	classes, err := c.StorageClasses.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing StorageClasses: %w", err)
	}
	volumes, err := c.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	config, err := c.ConfigJSON()
	if errors.Is(err, ceph.ErrUnreadableConfig) {
		return nil // What only its entries lead to must not be released; pkg/monitors reports it.
	}
	if err != nil {
		return err
	}
	c.Usage.Set(Of(c.Driver, config, classes, volumes, snapshots...))
	return nil
}

func (c *Controller) servesContents() bool {
	return slices.Contains(c.Served(ctrl.SnapshotContents.GroupResource().String()), ctrl.SnapshotContents.Version)
}

// pause spaces out what is asked for more often than it is to be done. One worker uses it.
type pause struct{ done time.Time }

// left is how long to wait; nothing starts the next pause.
func (p *pause) left(c clock.PassiveClock, length time.Duration) time.Duration {
	if wait := length - c.Since(p.done); wait > 0 {
		return wait
	}
	p.done = c.Now()
	return 0
}
