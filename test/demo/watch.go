package main

import (
	"context"
	"fmt"

	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

var snapshotClasses = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"}

// watch holds what the API server has of both drivers.
type watch struct {
	// changed has an entry whenever something may have changed.
	changed chan struct{}

	namespaced informers.SharedInformerFactory
	cluster    informers.SharedInformerFactory
	operators  operatorinformers.SharedInformerFactory
	snapshots  cache.SharedIndexInformer
	// reported has ClusterOperators.
	reported cache.SharedIndexInformer
}

// newWatch returns once everything is known. It ends with ctx.
func newWatch(ctx context.Context, config *rest.Config) (*watch, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	operators, err := operatorclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	w := &watch{
		changed:    make(chan struct{}, 1),
		namespaced: informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(driver.Namespace)),
		cluster:    informers.NewSharedInformerFactory(kube, 0),
		operators:  operatorinformers.NewSharedInformerFactory(operators, 0),
		snapshots:  dynamicinformer.NewDynamicSharedInformerFactory(dyn, 0).ForResource(snapshotClasses).Informer(),
		reported:   dynamicinformer.NewDynamicSharedInformerFactory(dyn, 0).ForResource(clusterOperators).Informer(),
	}
	return w, w.run(ctx)
}

func (w *watch) run(ctx context.Context) error {
	all := []cache.SharedIndexInformer{
		w.namespaced.Core().V1().Secrets().Informer(), w.namespaced.Core().V1().ConfigMaps().Informer(),
		w.namespaced.Apps().V1().Deployments().Informer(), w.namespaced.Apps().V1().DaemonSets().Informer(),
		w.cluster.Storage().V1().StorageClasses().Informer(),
		w.operators.Operator().V1().ClusterCSIDrivers().Informer(), w.snapshots, w.reported,
	}
	wake := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.wake() }, UpdateFunc: func(any, any) { w.wake() }, DeleteFunc: func(any) { w.wake() },
	}
	var synced []cache.InformerSynced
	for _, informer := range all {
		if _, err := informer.AddEventHandler(wake); err != nil {
			return err
		}
		synced = append(synced, informer.HasSynced)
		go informer.Run(ctx.Done())
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return fmt.Errorf("reading the cluster: %w", ctx.Err())
	}
	return nil
}

func (w *watch) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// placement is where the operator puts volumes; nil while that is not decided.
func (w *watch) placement(d driver.Driver) (*state.Placement, error) {
	lister := w.namespaced.Core().V1().ConfigMaps().Lister()
	p, found, err := state.Placements(nil, lister, d).Load()
	if err != nil || !found {
		return nil, err
	}
	return &p, nil
}

// seen gathers what there is of a driver, but for what only Ceph knows.
func (w *watch) seen(d driver.Driver) (seen, error) {
	core, apps := w.namespaced.Core().V1(), w.namespaced.Apps().V1()
	s := seen{secrets: map[string]*corev1.Secret{}}
	cluster, found, err := state.Clusters(nil, core.ConfigMaps().Lister(), d).Load()
	if err != nil {
		return s, err
	}
	if found {
		s.cluster = &cluster
	}
	for _, name := range []string{d.ConfigSecret(), d.ProvisionerSecret(), d.NodeSecret()} {
		if s.secrets[name], err = orNil(core.Secrets().Lister().Secrets(driver.Namespace).Get(name)); err != nil {
			return s, err
		}
	}
	if s.controller, err = orNil(apps.Deployments().Lister().Deployments(driver.Namespace).Get(d.ControllerName())); err != nil {
		return s, err
	}
	if s.node, err = orNil(apps.DaemonSets().Lister().DaemonSets(driver.Namespace).Get(d.NodeName())); err != nil {
		return s, err
	}
	if s.class, err = orNil(w.cluster.Storage().V1().StorageClasses().Lister().Get(d.StorageClass)); err != nil {
		return s, err
	}
	if _, s.snapshotClass, err = w.snapshots.GetStore().GetByKey(d.SnapshotClass); err != nil {
		return s, err
	}
	cr, err := orNil(w.operators.Operator().V1().ClusterCSIDrivers().Lister().Get(d.Name))
	if cr != nil {
		s.conditions = cr.Status.Conditions
	}
	return s, err
}

// orNil takes what does not exist for nil.
func orNil[T any](object *T, err error) (*T, error) {
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return object, err
}
