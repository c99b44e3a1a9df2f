package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	usageName = "CephUsage"
	// usagePause is the least time between two looks at all volumes: thousands may come at once.
	usagePause = 2 * time.Second
)

// usageController publishes what the OpenShift cluster uses of Ceph. It needs neither Ceph nor a
// ClusterCSIDriver, and has published nothing before all classes and volumes are in the cache.
func (s starter) usageController() factory.Controller {
	classes := s.clients.cluster().Storage().V1().StorageClasses()
	volumes := s.clients.volumes.Core().V1().PersistentVolumes()
	var last pause
	sync := func(_ context.Context, syncCtx factory.SyncContext) error {
		if wait := last.left(clock.RealClock{}, usagePause); wait > 0 {
			syncCtx.Queue().AddAfter(factory.DefaultQueueKey, wait)
			return nil
		}
		allClasses, err := classes.Lister().List(labels.Everything())
		if err != nil {
			return fmt.Errorf("listing StorageClasses: %w", err)
		}
		allVolumes, err := volumes.Lister().List(labels.Everything())
		if err != nil {
			return fmt.Errorf("listing PersistentVolumes: %w", err)
		}
		s.usage.Set(usage.Of(s.driver, allClasses, allVolumes))
		return nil
	}
	return factory.New().
		WithSync(sync).
		ResyncEvery(resync).
		WithControllerInstanceName(usageName).
		WithInformers(classes.Informer(), volumes.Informer()).
		ToController(usageName, s.recorder)
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
