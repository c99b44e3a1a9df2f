package operator

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csiconfigobservercontroller"
	"github.com/openshift/library-go/pkg/operator/csi/csistorageclasscontroller"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/managementstatecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
)

// staticResync is how often static resources are compared with a live GET each; their
// informers see changes at once.
const staticResync = 20 * time.Minute

// Kinds of prometheus-operator.
var (
	serviceMonitors = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}
	prometheusRules = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
)

func (s starter) staticName() string {
	return s.driver.ConditionPrefix + "DriverStaticResourcesController"
}

func (s starter) serviceMonitorName() string {
	return s.driver.ConditionPrefix + "DriverServiceMonitorController"
}

// logLevel follows spec.operatorLogLevel.
func (s starter) logLevel() factory.Controller {
	return s.quiet(loglevel.NewClusterOperatorLoggingController(s.clients.operator, s.recorder))
}

// managementState writes ManagementStateDegraded. Removed is pkg/removal's.
func (s starter) managementState() factory.Controller {
	return s.quiet(managementstatecontroller.NewOperatorManagementStateController(s.driver.OperatorName(), supported{s.clients.operator}, s.recorder))
}

// quiet wraps controllers that would complain each minute of a missing ClusterCSIDriver.
func (s starter) quiet(inner factory.Controller) factory.Controller {
	return wrapped{
		name: inner.Name(), inner: inner.Sync, quiet: true, resync: staticResync,
		operator: s.clients.operator, recorder: s.recorder,
	}.controller()
}

// configObserver keeps spec.observedConfig: the cluster's proxy and TLS profile. It writes
// ConfigObservationDegraded.
func (s starter) configObserver() factory.Controller {
	name := s.driver.ConditionPrefix + "DriverCSIConfigObserverController"
	inner := csiconfigobservercontroller.NewCSIConfigObserverController(name, s.clients.operator, s.clients.config, s.recorder)
	config := s.clients.config.Config().V1()
	return wrapped{
		name: name, inner: inner.Sync, quiet: true, resync: staticResync,
		informers: []factory.Informer{config.Proxies().Informer(), config.APIServers().Informer()},
		operator:  s.clients.operator, recorder: s.recorder,
	}.controller()
}

// hasServiceAccount says whether the static assets were applied up to the ServiceAccounts.
func (s starter) hasServiceAccount() (bool, error) {
	name := s.driver.NodeName() + "-sa"
	_, err := s.clients.ns().Core().V1().ServiceAccounts().Lister().ServiceAccounts(driver.Namespace).Get(name)
	return found(err, "ServiceAccount", name)
}

// staticResources applies the driver's static assets, in the order of their file names. A
// CSIDriver of somebody else is left alone.
func (s starter) staticResources() (factory.Controller, error) {
	name := s.staticName()
	clients := resourceapply.NewKubeClientHolder(s.clients.kube).
		WithKubernetesInformers(s.clients.kubeInformers).WithDynamicClient(s.clients.dynamic)
	csiDrivers := s.clients.cluster().Storage().V1().CSIDrivers()
	never := func() bool { return false }
	inner := staticresourcecontroller.NewStaticResourceController(name, s.assets.Asset, s.assets.Static(), clients, s.clients.patient, s.recorder).
		WithConditionalResources(s.assets.Asset, []string{assets.CSIDriver}, gate.CSIDriverIsOurs(csiDrivers.Lister(), s.driver), never)
	first := waves{
		inner: inner.Sync, operator: s.clients.operator, installed: s.hasServiceAccount, clock: clock.RealClock{},
		waves: byTens(s.assets.Static()), apply: applyDirectly(clients, s.assets.Asset),
	}
	manifest, err := s.assets.Asset(assets.MetricsService)
	if err != nil {
		return nil, err
	}
	ports := servicePorts{
		required: resourceread.ReadServiceV1OrDie(manifest), operator: s.clients.operator,
		services: s.clients.ns().Core().V1().Services().Lister(), client: s.clients.kube.CoreV1(), recorder: s.recorder,
	}
	return wrapped{
		name: name, inner: ports.after(first.sync), open: s.open, resync: staticResync,
		informers: append(s.clients.staticInformers(), s.gate),
		operator:  s.clients.patient, recorder: s.recorder,
	}.controller(), nil
}

// serviceMonitor applies the ServiceMonitor and the PrometheusRule, each while its CRD exists.
func (s starter) serviceMonitor() factory.Controller {
	name := s.serviceMonitorName()
	clients := resourceapply.NewClientHolder().WithDynamicClient(s.clients.dynamic)
	watches := map[string]*ctrl.Watch{
		assets.ServiceMonitor: s.watch(serviceMonitors, s.driver.ServiceMonitor()),
		assets.PrometheusRule: s.watch(prometheusRules, s.driver.PrometheusRule()),
	}
	never := func() bool { return false }
	inner := staticresourcecontroller.NewStaticResourceController(name, s.monitorAsset, nil, clients, s.clients.patient, s.recorder)
	for _, asset := range slices.Sorted(maps.Keys(watches)) {
		inner.WithConditionalResources(s.monitorAsset, []string{asset}, watches[asset].Served, never)
	}
	return wrapped{
		name: name, open: s.open, resync: staticResync,
		inner: func(ctx context.Context, syncCtx factory.SyncContext) error {
			some := false
			for _, watch := range watches {
				known, err := watch.Follow(ctx, func() { syncCtx.Queue().Add(factory.DefaultQueueKey) })
				if err != nil {
					return err
				}
				some = some || known
			}
			if !some {
				return nil
			}
			return inner.Sync(ctx, syncCtx)
		},
		informers: []factory.Informer{s.clients.crdInformer, s.gate},
		operator:  s.clients.patient, recorder: s.recorder,
	}.controller()
}

// watch is of an object of the driver whose kind comes and goes.
func (s starter) watch(resource schema.GroupVersionResource, name string) *ctrl.Watch {
	return &ctrl.Watch{
		Client: s.clients.dynamic, Resource: resource, Namespace: driver.Namespace, Name: name,
		Served: func() bool { return len(s.clients.served(resource.GroupResource().String())) > 0 },
	}
}

// monitorAsset is for the Prometheus that there is.
func (s starter) monitorAsset(name string) ([]byte, error) {
	manifest, err := s.assets.Asset(name)
	if err != nil || name != assets.ServiceMonitor || s.clients.openshift() {
		return manifest, err
	}
	return servingcerts.Monitor(manifest)
}

// storageClass keeps the default StorageClass. It writes StorageClassControllerDegraded, a
// name that library-go fixes.
func (s starter) storageClass() factory.Controller {
	class := s.class()
	inner := csistorageclasscontroller.NewCSIStorageClassController(
		s.driver.ConditionPrefix+"DriverStorageClassController", s.assets.Asset, []string{assets.StorageClass},
		s.clients.kube, s.clients.cluster(), s.clients.patient, s.clients.clusterCSIDrivers, s.recorder, class.Hook())
	return wrapped{
		name: inner.Name(), inner: class.Guard(inner.Sync), resync: staticResync, open: s.offers,
		informers: []factory.Informer{
			class.StorageClasses.Informer(), s.classStateInformer(), s.granted, s.gate, s.machines,
			s.stateInformer(),
		},
		operator: s.clients.patient, recorder: s.recorder,
	}.controller()
}
