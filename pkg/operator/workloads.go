package operator

import (
	"context"
	"errors"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivercontrollerservicecontroller"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivernodeservicecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	appsv1 "k8s.io/api/apps/v1"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
)

// workloadResync lets library-go's "progressing too long" fire.
const workloadResync = time.Minute

func controllerName(d driver.Driver) string {
	return d.ConditionPrefix + "DriverControllerServiceController"
}

func nodeName(d driver.Driver) string { return d.ConditionPrefix + "DriverNodeServiceController" }

// controllerDeployment deploys the controllers of ceph-csi.
//
// It produces the conditions
// <prefix>DriverControllerServiceControllerAvailable, …Progressing and …Degraded.
func (s operands) controllerDeployment() factory.Controller {
	name := controllerName(s.Driver)
	deployments := s.Deployments
	secrets := s.Secrets
	configMaps := s.ConfigMaps
	infrastructures := s.Infrastructures
	manifest := s.assets.Controller()
	deployment := func() (*appsv1.Deployment, error) {
		return deployments.Lister().Deployments(driver.Namespace).Get(s.Driver.ControllerName())
	}
	inner := csidrivercontrollerservicecontroller.NewCSIDriverControllerServiceController(
		name, manifest, s.Recorder, rolling{s.operator, name + operatorv1.OperatorStatusTypeProgressing, deployment}, s.Kube, deployments, s.config, nil,
		requireInfraID(infrastructures.Lister()),
		withReplicas(infrastructures.Lister()),
		withoutMissingMasters(infrastructures.Lister(), s.masters.Core().V1().Nodes().Lister()),
		func(_ *operatorv1.OperatorSpec, d *appsv1.Deployment) error {
			settings, err := s.Settings()
			place(&d.Spec.Template.Spec, settings.Controller)
			hideSecrets(&d.Spec.Template.Spec)
			return err
		},
		withGroupSnapshots(s.Driver, s.Served),
		withUser(s.openshift),
		csidrivercontrollerservicecontroller.WithObservedProxyDeploymentHook(),
		csidrivercontrollerservicecontroller.WithCABundleDeploymentHook(driver.Namespace, s.Driver.TrustedCAConfigMap(), configMaps),
		csidrivercontrollerservicecontroller.WithSecretHashAnnotationHook(driver.Namespace, s.Driver.MetricsCertSecret(), secrets),
		withTLSProfile,
		func(_ *operatorv1.OperatorSpec, d *appsv1.Deployment) error {
			return markVersion(&d.ObjectMeta, s.version, d.Spec)
		},
		refusePlaceholders,
	)
	return s.workload(workload{
		name:    name,
		inner:   inner.Sync,
		manager: factory.ControllerInstanceName(name, "Deployment"),
		exists: func() (bool, error) {
			_, err := deployment()
			return ctrl.Found(err, "Deployment", s.Driver.ControllerName())
		},
		missing: s.missing(prerequisitesOf(resourceread.ReadDeploymentV1OrDie(manifest).Spec.Template.Spec)),
	}, deployments.Informer(), infrastructures.Informer(), s.masters.Core().V1().Nodes().Informer())
}

// nodeDaemonSet deploys the node plugin of ceph-csi.
//
// It produces the conditions
// <prefix>DriverNodeServiceControllerAvailable, …Progressing and …Degraded, and
// NodePodsCurrent.
func (s operands) nodeDaemonSet(served *nodes.Controller) factory.Controller {
	name := nodeName(s.Driver)
	daemonSets := s.DaemonSets
	configMaps := s.ConfigMaps
	updates := nodes.Updates{Env: s.Env, Unavailable: served.Unserved}
	manifest := s.assets.Node()
	inner := csidrivernodeservicecontroller.NewCSIDriverNodeServiceController(
		name, manifest, s.Recorder, s.operator, s.Kube, daemonSets, nil,
		csidrivernodeservicecontroller.WithObservedProxyDaemonSetHook(),
		csidrivernodeservicecontroller.WithCABundleDaemonSetHook(driver.Namespace, s.Driver.TrustedCAConfigMap(), configMaps),
		func(_ *operatorv1.OperatorSpec, d *appsv1.DaemonSet) error {
			settings, err := s.Settings()
			place(&d.Spec.Template.Spec, settings.Node)
			hideSecrets(&d.Spec.Template.Spec)
			return err
		},
		updates.Hook,
		func(_ *operatorv1.OperatorSpec, d *appsv1.DaemonSet) error {
			return markVersion(&d.ObjectMeta, s.version, d.Spec)
		},
		refusePlaceholders,
	)
	return s.workload(workload{
		name: name,
		inner: func(ctx context.Context, syncCtx factory.SyncContext) error {
			return errors.Join(inner.Sync(ctx, syncCtx), updates.Report(ctx))
		},
		manager: factory.ControllerInstanceName(name, "CSIDriverNodeService"),
		exists: func() (bool, error) {
			_, err := daemonSets.Lister().DaemonSets(driver.Namespace).Get(s.Driver.NodeName())
			return ctrl.Found(err, "DaemonSet", s.Driver.NodeName())
		},
		missing: s.missing(prerequisitesOf(resourceread.ReadDaemonSetV1OrDie(manifest).Spec.Template.Spec)),
	}, daemonSets.Informer(), ctrl.Where(s.StorageClasses.Informer(), updates.Matters), ctrl.Where(s.PersistentVolumes.Informer(), updates.Matters))
}

func (s operands) workload(w workload, informers ...factory.Informer) factory.Controller {
	w.operator, w.clock = s.operator, s.Clock
	core := s.ns().Core().V1()
	return wrapped{
		name: w.name, inner: w.sync, open: s.gate.Open, resync: workloadResync,
		informers: append(informers, &s.gate.State, s.CRDs, core.Secrets().Informer(), core.ConfigMaps().Informer(), core.ServiceAccounts().Informer()),
		operator:  s.patient, recorder: s.Recorder,
	}.controller()
}

func (s operands) missing(p prerequisites) func() ([]string, error) {
	core := s.ns().Core().V1()
	listers := podListers{
		serviceAccounts: core.ServiceAccounts().Lister().ServiceAccounts(driver.Namespace),
		secrets:         core.Secrets().Lister().Secrets(driver.Namespace),
		configMaps:      core.ConfigMaps().Lister().ConfigMaps(driver.Namespace),
		trustedCA:       s.Driver.TrustedCAConfigMap(),
		openshift:       s.openshift,
		clock:           s.Clock,
	}
	return func() ([]string, error) { return listers.missing(p) }
}
