package operator

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/infraid"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

var clusterCSIDrivers = operatorv1.GroupVersion.WithResource("clustercsidrivers")

// settings are those in force: of the ClusterCSIDriver, or those that were valid last.
func (s starter) settings() (driver.Settings, error) { return s.settingsReader().Current() }

func (s starter) settingsReader() settings.Reader {
	return settings.Reader{
		Driver:   s.driver,
		Resource: s.resource,
		Last:     s.lastSettings().Load,
		Synced:   s.clients.ns().Core().V1().ConfigMaps().Informer().HasSynced,
	}
}

func (s starter) lastSettings() state.Record[state.Settings] {
	return state.LastSettings(s.clients.kube.CoreV1(), s.clients.ns().Core().V1().ConfigMaps().Lister(), s.driver)
}

// stateInformer tells of what is remembered, also of settings.
func (s starter) stateInformer() factory.Informer {
	return ctrl.Only(s.clients.ns().Core().V1().ConfigMaps().Informer(), s.driver.StateConfigMap())
}

func (s starter) settingsController() factory.Controller {
	return settings.New(settings.Config{
		Reader:   s.settingsReader(),
		Operator: s.clients.operator,
		Save:     s.lastSettings().Save,
		Live: func(ctx context.Context) (*unstructured.Unstructured, error) {
			return s.clients.dynamic.Resource(clusterCSIDrivers).Get(ctx, s.driver.Name, metav1.GetOptions{})
		},
		Apply: func(ctx context.Context, cr *unstructured.Unstructured, manager string) error {
			_, err := s.clients.dynamic.Resource(clusterCSIDrivers).Apply(ctx, cr.GetName(), cr, metav1.ApplyOptions{FieldManager: manager, Force: true})
			return err
		},
		State:    s.stateInformer(),
		Recorder: s.recorder,
	})
}

func (s starter) infraIDController() factory.Controller {
	return infraid.New(infraid.Config{
		Driver:   s.driver,
		Operator: s.clients.operator,
		Said:     s.clients.said.Config().V1().Infrastructures(),
		Memory:   infraIDMemory(s.clients.kube, s.clients.kubeInformers, s.driver),
		Save:     infraIDs(s.clients.kube, s.clients.kubeInformers, s.driver).Save,
		State:    s.stateInformer(),
		Cluster:  s.cluster,
		Recorder: s.recorder,
	})
}

// resource is the ClusterCSIDriver as the API server gives it; nil without one.
func (s starter) resource() (*unstructured.Unstructured, error) {
	object, err := s.clients.operatorInstances.ForResource(clusterCSIDrivers).Lister().Get(s.driver.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ClusterCSIDriver %s: %w", s.driver.Name, err)
	}
	cr, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("ClusterCSIDriver %s is a %T", s.driver.Name, object)
	}
	return cr, nil
}
