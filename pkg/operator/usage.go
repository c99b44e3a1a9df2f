package operator

import (
	"context"
	"fmt"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/monitors"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

func (s starter) usageController() factory.Controller {
	return usage.New(usage.Config{
		Driver:            s.driver,
		StorageClasses:    s.clients.cluster().Storage().V1().StorageClasses(),
		PersistentVolumes: s.clients.volumes.Core().V1().PersistentVolumes(),
		Contents:          s.contents,
		Served:            s.clients.served,
		ConfigJSON:        s.clusterConfig,
		Usage:             s.usage,
		Triggers:          []factory.Informer{s.clients.crdInformer, s.configInformer()},
		Clock:             clock.RealClock{},
		Recorder:          s.recorder,
	})
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
