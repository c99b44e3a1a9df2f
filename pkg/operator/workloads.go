package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivercontrollerservicecontroller"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivernodeservicecontroller"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
)

// workloadResync lets library-go's "progressing too long" fire.
const workloadResync = time.Minute

func (s starter) controllerName() string {
	return s.driver.ConditionPrefix + "DriverControllerServiceController"
}

func (s starter) nodeName() string { return s.driver.ConditionPrefix + "DriverNodeServiceController" }

// controllerDeployment deploys the controllers of ceph-csi.
//
// It produces the conditions
// <prefix>DriverControllerServiceControllerAvailable, …Progressing and …Degraded.
func (s starter) controllerDeployment() factory.Controller {
	name := s.controllerName()
	deployments := s.clients.ns().Apps().V1().Deployments()
	secrets := s.clients.ns().Core().V1().Secrets()
	configMaps := s.clients.ns().Core().V1().ConfigMaps()
	infrastructures := s.clients.config.Config().V1().Infrastructures()
	manifest := s.assets.Controller()
	inner := csidrivercontrollerservicecontroller.NewCSIDriverControllerServiceController(
		name, manifest, s.recorder, s.clients.operator, s.clients.kube, deployments, s.clients.config, nil,
		requireInfraID(infrastructures.Lister()),
		withReplicas(infrastructures.Lister()),
		withoutMissingMasters(infrastructures.Lister(), s.clients.masters.Core().V1().Nodes().Lister()),
		func(_ *operatorv1.OperatorSpec, d *appsv1.Deployment) error {
			settings, err := s.settings()
			place(&d.Spec.Template.Spec, settings.Controller)
			return err
		},
		withGroupSnapshots(s.driver, s.clients.served),
		withUser(s.clients.openshift),
		csidrivercontrollerservicecontroller.WithObservedProxyDeploymentHook(),
		csidrivercontrollerservicecontroller.WithCABundleDeploymentHook(driver.Namespace, s.driver.TrustedCAConfigMap(), configMaps),
		csidrivercontrollerservicecontroller.WithSecretHashAnnotationHook(driver.Namespace, s.driver.MetricsCertSecret(), secrets),
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
			_, err := deployments.Lister().Deployments(driver.Namespace).Get(s.driver.ControllerName())
			return found(err, "Deployment", s.driver.ControllerName())
		},
		missing: s.missing(prerequisitesOf(resourceread.ReadDeploymentV1OrDie(manifest).Spec.Template.Spec)),
	}, deployments.Informer(), infrastructures.Informer(), s.clients.masters.Core().V1().Nodes().Informer())
}

// nodeDaemonSet deploys the node plugin of ceph-csi.
//
// It produces the conditions
// <prefix>DriverNodeServiceControllerAvailable, …Progressing and …Degraded, and
// NodePodsCurrent.
func (s starter) nodeDaemonSet() factory.Controller {
	name := s.nodeName()
	daemonSets := s.clients.ns().Apps().V1().DaemonSets()
	configMaps := s.clients.ns().Core().V1().ConfigMaps()
	updates := nodeUpdates{
		driver: s.driver, daemonSets: daemonSets.Lister(), live: s.clients.kube.AppsV1(),
		classes:     s.clients.cluster().Storage().V1().StorageClasses().Lister(),
		volumes:     s.clients.volumes.Core().V1().PersistentVolumes().Lister(),
		unavailable: s.unserved.Unserved,
	}
	manifest := s.assets.Node()
	inner := csidrivernodeservicecontroller.NewCSIDriverNodeServiceController(
		name, manifest, s.recorder, s.clients.operator, s.clients.kube, daemonSets, nil,
		csidrivernodeservicecontroller.WithObservedProxyDaemonSetHook(),
		csidrivernodeservicecontroller.WithCABundleDaemonSetHook(driver.Namespace, s.driver.TrustedCAConfigMap(), configMaps),
		func(_ *operatorv1.OperatorSpec, d *appsv1.DaemonSet) error {
			settings, err := s.settings()
			place(&d.Spec.Template.Spec, settings.Node)
			return err
		},
		updates.hook,
		func(_ *operatorv1.OperatorSpec, d *appsv1.DaemonSet) error {
			return markVersion(&d.ObjectMeta, s.version, d.Spec)
		},
		refusePlaceholders,
	)
	return s.workload(workload{
		name: name,
		inner: func(ctx context.Context, syncCtx factory.SyncContext) error {
			return errors.Join(inner.Sync(ctx, syncCtx), updates.report(ctx, s.clients.operator))
		},
		manager: factory.ControllerInstanceName(name, "CSIDriverNodeService"),
		exists: func() (bool, error) {
			_, err := daemonSets.Lister().DaemonSets(driver.Namespace).Get(s.driver.NodeName())
			return found(err, "DaemonSet", s.driver.NodeName())
		},
		missing: s.missing(prerequisitesOf(resourceread.ReadDaemonSetV1OrDie(manifest).Spec.Template.Spec)),
	}, daemonSets.Informer(), s.clients.cluster().Storage().V1().StorageClasses().Informer(), s.clients.volumeCache())
}

func (s starter) nodes() factory.Controller {
	csiNodes := s.clients.csiNodes.Storage().V1().CSINodes()
	return nodes.New(nodes.Config{
		Driver: s.driver, Operator: s.clients.operator, DaemonSets: s.clients.ns().Apps().V1().DaemonSets(),
		Registered: nodes.Registrations{Driver: s.driver, CSINodes: csiNodes.Lister()}.Count, Registrations: csiNodes.Informer(),
		Find: s.unserved.Find, Report: s.reports.nodes, Clock: clock.RealClock{}, Recorder: s.recorder,
	})
}

func (s starter) workload(w workload, informers ...factory.Informer) factory.Controller {
	w.operator, w.clock = s.clients.operator, clock.RealClock{}
	core := s.clients.ns().Core().V1()
	return wrapped{
		name: w.name, inner: w.sync, open: s.open, resync: workloadResync,
		informers: append(informers, s.gate, s.clients.crdInformer, core.Secrets().Informer(), core.ConfigMaps().Informer(), core.ServiceAccounts().Informer()),
		operator:  s.clients.patient, recorder: s.recorder,
	}.controller()
}

func (s starter) missing(p prerequisites) func() ([]string, error) {
	core := s.clients.ns().Core().V1()
	listers := podListers{
		serviceAccounts: core.ServiceAccounts().Lister().ServiceAccounts(driver.Namespace),
		secrets:         core.Secrets().Lister().Secrets(driver.Namespace),
		configMaps:      core.ConfigMaps().Lister().ConfigMaps(driver.Namespace),
		trustedCA:       s.driver.TrustedCAConfigMap(),
		openshift:       s.clients.openshift,
		clock:           clock.RealClock{},
	}
	return func() ([]string, error) { return listers.missing(p) }
}

func found(err error, kind, name string) (bool, error) {
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("looking up %s %s: %w", kind, name, err)
	}
	return true, nil
}
