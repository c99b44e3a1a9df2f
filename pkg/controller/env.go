package controller

import (
	"fmt"
	"sync"

	operatorv1 "github.com/openshift/api/operator/v1"
	configinformers "github.com/openshift/client-go/config/informers/externalversions/config/v1"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	storageinformers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Env is what all controllers of one process work in. An informer is started only if a controller asks for
// it or for its lister.
type Env struct {
	Driver driver.Driver
	// Operator reads the ClusterCSIDriver, and takes the conditions that controllers say.
	Operator v1helpers.OperatorClient
	Kube     kubernetes.Interface
	Dynamic  dynamic.Interface
	// Secrets, ConfigMaps, Deployments and DaemonSets are those of driver.Namespace.
	Secrets     coreinformers.SecretInformer
	ConfigMaps  coreinformers.ConfigMapInformer
	Deployments appsinformers.DeploymentInformer
	DaemonSets  appsinformers.DaemonSetInformer
	// PersistentVolumes have only what the features read.
	PersistentVolumes coreinformers.PersistentVolumeInformer
	StorageClasses    storageinformers.StorageClassInformer
	CSIDrivers        storageinformers.CSIDriverInformer
	// ClusterCSIDrivers have the driver's alone.
	ClusterCSIDrivers operatorinformers.ClusterCSIDriverInformer
	// Infrastructures have the remembered infra ID.
	Infrastructures configinformers.InfrastructureInformer
	// Settings reads spec.driverConfig of the ClusterCSIDriver: those in force, or those that were valid last.
	Settings func() (driver.Settings, error)
	// Served returns the versions that the API server serves of a CustomResourceDefinition, by its full name,
	// such as "volumesnapshotclasses.snapshot.storage.k8s.io"; none where it does not exist. CRDs tells of changes.
	Served   func(crd string) []string
	CRDs     factory.Informer
	Recorder events.Recorder
	Clock    clock.WithTicker
	// Remembering is held by who forgets what a class had because it sees the class, and by who deletes the class because
	// that is remembered.
	Remembering *sync.Mutex
}

// Remembered tells of changes in what outlives the process, in which there are the settings that were valid last.
func (e Env) Remembered() factory.Informer {
	return Only(e.ConfigMaps.Informer(), e.Driver.StateConfigMap())
}

// StorageClassState is spec.storageClassState of the ClusterCSIDriver; Unmanaged without one.
func (e Env) StorageClassState() (operatorv1.StorageClassStateName, error) {
	cr, err := e.clusterCSIDriver()
	if err != nil || cr == nil {
		return operatorv1.UnmanagedStorageClass, err
	}
	return cr.Spec.StorageClassState, nil
}

// RemovalDeclared says whether a person wants the driver off the cluster, whatever the other controllers are to
// take managementState for meanwhile; so it is not without a ClusterCSIDriver.
func (e Env) RemovalDeclared() (bool, error) {
	cr, err := e.clusterCSIDriver()
	return cr != nil && cr.Spec.ManagementState == operatorv1.Removed, err
}

// clusterCSIDriver is the driver's; nil where there is none.
func (e Env) clusterCSIDriver() (*operatorv1.ClusterCSIDriver, error) {
	cr, err := e.ClusterCSIDrivers.Lister().Get(e.Driver.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", e.Driver.Name, err)
	}
	return cr, nil
}

// Found makes of the error of a Get whether the object is there.
func Found(err error, kind, name string) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up %s %s: %w", kind, name, err)
	}
	return true, nil
}
