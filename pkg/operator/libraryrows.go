package operator

import (
	"context"
	"maps"
	"slices"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csiconfigobservercontroller"
	"github.com/openshift/library-go/pkg/operator/csi/csistorageclasscontroller"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/managementstatecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/classes"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
)

// staticResync is how often static resources are compared with a live GET each; their
// informers see changes at once.
const staticResync = 20 * time.Minute

// operands are library-go's controllers, which keep on the cluster what the assets have.
type operands struct {
	*clients
	assets  assets.Set
	version string
	gate    *gate.Gate
}

// Kinds of prometheus-operator.
var (
	serviceMonitors = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}
	prometheusRules = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
)

func staticName(d driver.Driver) string {
	return d.ConditionPrefix + "DriverStaticResourcesController"
}

func serviceMonitorName(d driver.Driver) string {
	return d.ConditionPrefix + "DriverServiceMonitorController"
}

// logLevel follows spec.operatorLogLevel.
func (s operands) logLevel() factory.Controller {
	return s.quiet(loglevel.NewClusterOperatorLoggingController(s.operator, s.Recorder))
}

// managementState writes ManagementStateDegraded. Removed is pkg/removal's.
func (s operands) managementState() factory.Controller {
	return s.quiet(managementstatecontroller.NewOperatorManagementStateController(s.Driver.OperatorName(), supported{s.operator}, s.Recorder))
}

// quiet wraps controllers that would complain each minute of a missing ClusterCSIDriver.
func (s operands) quiet(inner factory.Controller) factory.Controller {
	return wrapped{
		name: inner.Name(), inner: inner.Sync, quiet: true, resync: staticResync,
		operator: s.operator, recorder: s.Recorder,
	}.controller()
}

// configObserver keeps spec.observedConfig: the cluster's proxy and TLS profile. It writes
// ConfigObservationDegraded.
func (s operands) configObserver() factory.Controller {
	name := s.Driver.ConditionPrefix + "DriverCSIConfigObserverController"
	inner := csiconfigobservercontroller.NewCSIConfigObserverController(name, s.operator, s.config, s.Recorder)
	config := s.config.Config().V1()
	return wrapped{
		name: name, inner: inner.Sync, quiet: true, resync: staticResync,
		informers: []factory.Informer{config.Proxies().Informer(), config.APIServers().Informer()},
		operator:  s.operator, recorder: s.Recorder,
	}.controller()
}

// hasServiceAccount says whether the static assets were applied up to the ServiceAccounts.
func (s operands) hasServiceAccount() (bool, error) {
	name := s.Driver.NodeName() + "-sa"
	_, err := s.ns().Core().V1().ServiceAccounts().Lister().ServiceAccounts(driver.Namespace).Get(name)
	return ctrl.Found(err, "ServiceAccount", name)
}

// retire has inner delete the ClusterRoleBindings that former versions have applied. The drivers' pods work with them
// until a sync has applied all that takes their place.
func (s operands) retire(inner *staticresourcecontroller.StaticResourceController) factory.SyncFunc {
	applied := false
	bindings := s.cluster().Rbac().V1().ClusterRoleBindings().Lister()
	bound := func(asset string) bool {
		_, err := bindings.Get(resourceread.ReadClusterRoleBindingV1OrDie(s.assets.Manifest(asset)).Name)
		return err == nil
	}
	for _, asset := range s.assets.Retired() {
		inner.WithConditionalResources(s.assets.Asset, []string{asset}, func() bool { return false }, func() bool { return applied && bound(asset) })
	}
	return func(ctx context.Context, syncCtx factory.SyncContext) error {
		if err := inner.Sync(ctx, syncCtx); err != nil || applied {
			return err
		}
		// It has applied nothing in another state.
		if spec, _, _, err := s.operator.GetOperatorState(); err != nil || spec.ManagementState != operatorv1.Managed {
			return err
		}
		applied = true
		if !slices.ContainsFunc(s.assets.Retired(), bound) {
			return nil
		}
		return inner.Sync(ctx, syncCtx)
	}
}

// staticResources applies the driver's static assets, in the order of their file names, and deletes what former
// versions have applied beyond them. A CSIDriver of somebody else is left alone.
func (s operands) staticResources() factory.Controller {
	name := staticName(s.Driver)
	clients := resourceapply.NewKubeClientHolder(s.Kube).
		WithKubernetesInformers(s.kubeInformers).WithDynamicClient(s.Dynamic)
	csiDrivers := s.CSIDrivers
	never := func() bool { return false }
	inner := staticresourcecontroller.NewStaticResourceController(name, s.assets.Asset, nil, clients, s.patient, s.Recorder)
	// First, because rules of it stood in a static asset: node pods miss none on the way.
	userSpace := s.userSpace(inner)
	inner.WithConditionalResources(s.assets.Asset, s.assets.Static(), nil, nil).
		WithConditionalResources(s.assets.Asset, []string{assets.CSIDriver}, gate.CSIDriverIsOurs(csiDrivers.Lister(), s.Driver), never)
	first := waves{
		inner: s.retire(inner), operator: s.operator, installed: s.hasServiceAccount, clock: s.Clock,
		waves: byTens(s.assets.Static()), apply: applyDirectly(clients, s.assets.Asset),
	}
	ports := servicePorts{
		required: resourceread.ReadServiceV1OrDie(s.assets.Manifest(assets.MetricsService)), operator: s.operator,
		services: s.ns().Core().V1().Services().Lister(), client: s.Kube.CoreV1(), recorder: s.Recorder,
	}
	return wrapped{
		name: name, inner: ports.after(first.sync), open: s.gate.Open, resync: staticResync,
		informers: slices.Concat(s.staticInformers(), userSpace, []factory.Informer{&s.gate.State}),
		operator:  s.patient, recorder: s.Recorder,
	}.controller()
}

// serviceMonitor applies the ServiceMonitor and the PrometheusRule, each while its CRD exists.
func (s operands) serviceMonitor() factory.Controller {
	name := serviceMonitorName(s.Driver)
	clients := resourceapply.NewClientHolder().WithDynamicClient(s.Dynamic)
	watches := map[string]*ctrl.Watch{
		assets.ServiceMonitor: s.watch(serviceMonitors, s.Driver.ServiceMonitor()),
		assets.PrometheusRule: s.watch(prometheusRules, s.Driver.PrometheusRule()),
	}
	never := func() bool { return false }
	inner := staticresourcecontroller.NewStaticResourceController(name, s.monitorAsset, nil, clients, s.patient, s.Recorder)
	for _, asset := range slices.Sorted(maps.Keys(watches)) {
		inner.WithConditionalResources(s.monitorAsset, []string{asset}, watches[asset].Served, never)
	}
	return wrapped{
		name: name, open: s.gate.Open, resync: staticResync,
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
		informers: []factory.Informer{s.CRDs, &s.gate.State},
		operator:  s.patient, recorder: s.Recorder,
	}.controller()
}

// watch is of an object of the driver whose kind comes and goes.
func (s operands) watch(resource schema.GroupVersionResource, name string) *ctrl.Watch {
	return &ctrl.Watch{
		Client: s.Dynamic, Resource: resource, Namespace: driver.Namespace, Name: name,
		Served: func() bool { return len(s.Served(resource.GroupResource().String())) > 0 },
	}
}

// monitorAsset is for the Prometheus that there is.
func (s operands) monitorAsset(name string) ([]byte, error) {
	manifest, err := s.assets.Asset(name)
	if err != nil || name != assets.ServiceMonitor || s.openshift() {
		return manifest, err
	}
	return servingcerts.Monitor(manifest)
}

// storageClass keeps the default StorageClass. It writes StorageClassControllerDegraded, a
// name that library-go fixes.
func (s operands) storageClass(class *classes.StorageClass, images factory.Informer) factory.Controller {
	inner := csistorageclasscontroller.NewCSIStorageClassController(
		s.Driver.ConditionPrefix+"DriverStorageClassController", s.assets.Asset, []string{assets.StorageClass},
		s.Kube, s.cluster(), s.patient, s.clusterCSIDrivers, s.Recorder, class.Hook())
	return wrapped{
		name: inner.Name(), inner: class.Guard(inner.Sync), resync: staticResync, open: s.gate.Offers,
		informers: []factory.Informer{
			ctrl.Where(class.StorageClasses.Informer(), class.Matters), s.ClusterCSIDrivers.Informer(), class.Placement, &s.gate.State, images, s.Remembered(),
		},
		operator: s.patient, recorder: s.Recorder,
	}.controller()
}
