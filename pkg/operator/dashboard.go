package operator

import (
	"context"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// dashboard keeps the ConfigMap that OpenShift's console shows a dashboard of.
type dashboard struct {
	driver   driver.Driver
	operator v1helpers.OperatorClient
	wanted   *corev1.ConfigMap
	client   corev1client.ConfigMapsGetter
	manager  string
	watch    *ctrl.Watch
}

// dashboard writes no condition: nobody's volumes need it.
func (s operands) dashboard() factory.Controller {
	name := s.Driver.ConditionPrefix + "DashboardController"
	wanted := resourceread.ReadConfigMapV1OrDie(s.assets.Manifest(assets.Dashboard))
	d := dashboard{
		driver: s.Driver, operator: s.patient,
		wanted: wanted, client: s.Kube.CoreV1(), manager: s.Driver.FieldManager(name),
		watch: &ctrl.Watch{
			Client: s.Dynamic, Resource: corev1.SchemeGroupVersion.WithResource("configmaps"),
			Namespace: wanted.Namespace, Name: wanted.Name, Served: s.openshift,
		},
	}
	return wrapped{
		name: name, inner: d.sync, open: s.gate.Open, resync: staticResync, quiet: true,
		informers: []factory.Informer{s.CRDs, &s.gate.State},
		operator:  s.patient, recorder: s.Recorder,
	}.controller()
}

// sync applies the ConfigMap where it is not as it should be. A cluster without a console may lack the
// namespace.
func (d dashboard) sync(ctx context.Context, syncCtx factory.SyncContext) error {
	state, err := ctrl.ManagementState(d.operator, d.driver.Name)
	if err != nil || state != operatorv1.Managed {
		return err
	}
	known, err := d.watch.Follow(ctx, func() { syncCtx.Queue().Add(factory.DefaultQueueKey) })
	if err != nil || !known {
		return err
	}
	held, err := d.client.ConfigMaps(d.wanted.Namespace).Get(ctx, d.wanted.Name, metav1.GetOptions{})
	if err == nil && d.isWanted(held) {
		return nil
	}
	if err == nil || apierrors.IsNotFound(err) {
		configMap := applycorev1.ConfigMap(d.wanted.Name, d.wanted.Namespace).WithLabels(d.wanted.Labels).WithData(d.wanted.Data)
		_, err = d.client.ConfigMaps(d.wanted.Namespace).Apply(ctx, configMap, metav1.ApplyOptions{FieldManager: d.manager, Force: true})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("keeping the console's dashboard: %w", err)
	}
	return nil
}

func (d dashboard) isWanted(held *corev1.ConfigMap) bool {
	for name, value := range d.wanted.Labels {
		if held.Labels[name] != value {
			return false
		}
	}
	for key, text := range d.wanted.Data {
		if held.Data[key] != text {
			return false
		}
	}
	return true
}
