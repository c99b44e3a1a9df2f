package operator

import (
	"context"
	"errors"
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// servicePorts puts back the ports of a Service that were edited by hand: library-go compares
// a Service's selector and type only.
type servicePorts struct {
	required *corev1.Service
	operator v1helpers.OperatorClient
	services corelisters.ServiceLister
	client   corev1client.ServicesGetter
	recorder events.Recorder
}

// after runs inner first, which creates the Service.
func (p servicePorts) after(inner factory.SyncFunc) factory.SyncFunc {
	return func(ctx context.Context, syncCtx factory.SyncContext) error {
		return errors.Join(inner(ctx, syncCtx), p.restore(ctx))
	}
}

func (p servicePorts) restore(ctx context.Context) error {
	spec, _, _, err := p.operator.GetOperatorState()
	if err != nil {
		return err
	}
	existing, err := p.services.Services(p.required.Namespace).Get(p.required.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	name := p.required.Namespace + "/" + p.required.Name
	if err != nil {
		return fmt.Errorf("reading Service %s: %w", name, err)
	}
	if spec.ManagementState != operatorv1.Managed || equality.Semantic.DeepEqual(existing.Spec.Ports, p.required.Spec.Ports) {
		return nil
	}
	restored := existing.DeepCopy()
	restored.Spec.Ports = p.required.Spec.Ports
	if _, err := p.client.Services(p.required.Namespace).Update(ctx, restored, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("restoring the ports of Service %s: %w", name, err)
	}
	p.recorder.Eventf("ServiceUpdated", "Restored the ports of Service %s, which were changed", name)
	return nil
}
