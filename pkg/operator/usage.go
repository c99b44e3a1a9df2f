package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	usageName = "CephUsage"
	// usagePause is the least time between two looks at all volumes: thousands may come at once.
	usagePause = 2 * time.Second
)

// usageController publishes what the OpenShift cluster uses of Ceph. It needs neither Ceph nor a
// ClusterCSIDriver, and has published nothing before all classes, volumes and snapshots are in the cache.
func (s starter) usageController() factory.Controller {
	classes := s.clients.cluster().Storage().V1().StorageClasses()
	volumes := s.clients.volumes.Core().V1().PersistentVolumes()
	var last pause
	sync := func(ctx context.Context, syncCtx factory.SyncContext) error {
		if err := s.snapshots.follow(ctx, s.servesSnapshots()); err != nil {
			return err
		}
		snapshots, known := s.snapshots.used()
		if !known {
			return nil // What only snapshots are in must not be released.
		}
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
		config, err := s.clusterConfig()
		if errors.Is(err, ceph.ErrUnreadableConfig) {
			return nil // What only its entries lead to must not be released; pkg/monitors reports it.
		}
		if err != nil {
			return err
		}
		s.usage.Set(usage.Of(s.driver, config, allClasses, allVolumes, snapshots...))
		return nil
	}
	return factory.New().
		WithSync(sync).
		ResyncEvery(resync).
		WithControllerInstanceName(usageName).
		WithInformers(classes.Informer(), volumes.Informer(), s.clients.crdInformer, s.snapshots).
		WithInformers(s.configInformer()).
		ToController(usageName, s.recorder)
}

// servesSnapshots says whether the CRD exists.
func (s starter) servesSnapshots() bool {
	return slices.Contains(s.clients.served(ctrl.SnapshotContents.GroupResource().String()), ctrl.SnapshotContents.Version)
}

// configInformer tells of clusterConfig.
func (s starter) configInformer() factory.Informer {
	return ctrl.Only(s.clients.ns().Core().V1().Secrets().Informer(), s.driver.ConfigSecret())
}

// clusterConfig is what the driver's pods read of clusterIDs.
func (s starter) clusterConfig() ([]ceph.ConfigEntry, error) {
	secret, err := s.clients.ns().Core().V1().Secrets().Lister().Secrets(driver.Namespace).Get(s.driver.ConfigSecret())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, s.driver.ConfigSecret(), err)
	}
	return ceph.ParseConfig(secret.Data[monitors.ConfigKey])
}

// writtenConfig is clusterConfig past the cache.
func (s starter) writtenConfig(ctx context.Context) ([]ceph.ConfigEntry, error) {
	secret, err := s.clients.kube.CoreV1().Secrets(driver.Namespace).Get(ctx, s.driver.ConfigSecret(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", driver.Namespace, s.driver.ConfigSecret(), err)
	}
	return ceph.ParseConfig(secret.Data[monitors.ConfigKey])
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
