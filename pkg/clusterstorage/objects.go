package clusterstorage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Names of CSO's controllers, without the driver's prefix.
const (
	staticController         = "CSIDriverOperatorStaticController"
	serviceMonitorController = "CSIDriverOperatorServiceMonitorController"
	deploymentController     = "CSIDriverOperatorDeployment"
	crController             = "CSIDriverOperator"
)

// serviceMonitors may be unknown: their CRD is prometheus-operator's.
var serviceMonitors = schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}

// staticResources applies the operator's ServiceAccount, roles and Service.
//
// It produces the condition <prefix>CSIDriverOperatorStaticControllerDegraded.
func (s starter) staticResources(o operator) factory.Controller {
	name := o.ConditionPrefix + staticController
	clients := resourceapply.NewKubeClientHolder(s.clients.kube).WithKubernetesInformers(s.clients.kubeInformers)
	inner := staticresourcecontroller.NewStaticResourceController(name, s.Assets, o.StaticAssets, clients, s.clients.storage, s.recorder)
	return s.controller(controller{
		name: name, of: o, quiet: true, sync: inner.Sync,
		informers: []factory.Informer{
			s.clients.ns().Core().V1().Services().Informer(),
			s.clients.ns().Core().V1().ServiceAccounts().Informer(),
			s.clients.ns().Rbac().V1().Roles().Informer(),
			s.clients.ns().Rbac().V1().RoleBindings().Informer(),
			s.clients.cluster().Rbac().V1().ClusterRoles().Informer(),
			s.clients.cluster().Rbac().V1().ClusterRoleBindings().Informer(),
		},
	})
}

// serviceMonitor applies the operator's ServiceMonitor while its CRD exists.
//
// It produces the condition <prefix>CSIDriverOperatorServiceMonitorControllerDegraded.
func (s starter) serviceMonitor(o operator) factory.Controller {
	name := o.ConditionPrefix + serviceMonitorController
	clients := resourceapply.NewClientHolder().WithDynamicClient(s.clients.dynamic)
	inner := staticresourcecontroller.NewStaticResourceController(name, s.monitorAsset, []string{o.ServiceMonitorAsset}, clients, s.clients.storage, s.recorder)
	monitor := ctrl.Watch{
		Client: s.clients.dynamic, Resource: serviceMonitors, Namespace: driver.Namespace, Name: o.driver.OperatorName(),
		Served: func() bool { return s.clients.crd(serviceMonitors.GroupResource().String()) != nil },
	}
	return s.controller(controller{
		name: name, of: o, quiet: true,
		sync: func(ctx context.Context, syncCtx factory.SyncContext) error {
			known, err := monitor.Follow(ctx, func() { syncCtx.Queue().Add(factory.DefaultQueueKey) })
			if err != nil || !known {
				return err
			}
			return inner.Sync(ctx, syncCtx)
		},
	})
}

// monitorAsset is for the Prometheus that there is.
func (s starter) monitorAsset(path string) ([]byte, error) {
	manifest, err := s.Assets(path)
	if err != nil || !s.Kubernetes {
		return manifest, err
	}
	return servingcerts.Monitor(manifest)
}

// sharedRoles tells of those of the sidecars' shared ClusterRoles that nobody brought. They are CSO's; whoever
// creates them must hold what they allow, all Secrets among it.
//
// It produces the condition CephSharedRolesDegraded.
func (s starter) sharedRoles() factory.Controller {
	roles := s.clients.cluster().Rbac().V1().ClusterRoles()
	return s.controller(controller{
		name: strings.TrimSuffix(condition.SharedRolesDegraded, operatorv1.OperatorStatusTypeDegraded), always: true,
		informers: []factory.Informer{roles.Informer()},
		sync: func(context.Context, factory.SyncContext) error {
			if !s.anyRuns() {
				return nil
			}
			var missing []string
			command := "oc apply"
			for _, name := range s.SharedRoles {
				if _, err := roles.Lister().Get(name); apierrors.IsNotFound(err) {
					missing = append(missing, name)
					command += " -f manifests/kubernetes/06_shared_" + name + ".yaml"
				}
			}
			if len(missing) > 0 {
				return fmt.Errorf("the drivers' sidecars lack rights: there is no ClusterRole %s; create what cluster-storage-operator brings elsewhere: %s",
					strings.Join(missing, ", "), command)
			}
			return nil
		},
	})
}

func (s starter) anyRuns() bool {
	return slices.ContainsFunc(s.operators(), func(o operator) bool { return s.decide(o) == run })
}

// storage creates Storage/cluster where no CSO brings it: conditions need a place.
func (s starter) storage() factory.Controller {
	return s.controller(controller{
		name: "CephStorage", always: true, quiet: true,
		sync: func(ctx context.Context, _ factory.SyncContext) error { return s.ensureStorage(ctx) },
	})
}

func (s starter) ensureStorage(ctx context.Context) error {
	if s.clients.storageObject() != nil {
		return nil
	}
	storage := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"managementState": string(operatorv1.Managed), "logLevel": string(operatorv1.Normal), "operatorLogLevel": string(operatorv1.Normal),
	}}}
	storage.SetGroupVersionKind(operatorv1.GroupVersion.WithKind("Storage"))
	storage.SetName(instance)
	storage.SetLabels(map[string]string{driver.ManagedByLabel: Name})
	_, err := s.clients.dynamic.Resource(storages).Create(ctx, storage, metav1.CreateOptions{})
	return created("Storage", err)
}

// createDriver creates the ClusterCSIDriver of an operator. An existing one is its
// administrator's.
func (s starter) createDriver(ctx context.Context, o operator) error {
	content, err := s.Assets(o.CRAsset)
	if err != nil {
		return err
	}
	cr := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, cr); err != nil {
		return fmt.Errorf("parsing %s: %w", o.CRAsset, err)
	}
	spec, _, _, err := s.clients.storage.GetOperatorState()
	if err != nil {
		return err
	}
	level := cmp.Or(spec.LogLevel, operatorv1.Normal)
	for _, field := range []string{"logLevel", "operatorLogLevel"} {
		if err := unstructured.SetNestedField(cr.Object, string(level), "spec", field); err != nil {
			return fmt.Errorf("setting %s of %s: %w", field, o.CRAsset, err)
		}
	}
	_, err = s.clients.dynamic.Resource(csiDrivers).Create(ctx, cr, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating ClusterCSIDriver %s: %w", o.CSIDriverName, err)
	}
	return nil
}
