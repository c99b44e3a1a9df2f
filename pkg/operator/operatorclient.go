package operator

import (
	"context"
	"fmt"
	"sync"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// maybeWithout is the client of a ClusterCSIDriver that may not exist: then conditions have
// nowhere to go, and that is no error. library-go would retry, and log, for ever.
type maybeWithout struct {
	v1helpers.OperatorClientWithFinalizers
	// writing is held during a write: of several at once, the API server would make all but one
	// again and again. A start writes the conditions of all controllers in the same instant.
	writing *sync.Mutex
}

// ApplyOperatorStatus writes conditions, or nothing without a ClusterCSIDriver.
func (m maybeWithout) ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	m.writing.Lock()
	defer m.writing.Unlock()
	err := m.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, fieldManager, status)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// extractOperatorSpec returns what fieldManager owns in the spec of a ClusterCSIDriver.
func extractOperatorSpec(obj *unstructured.Unstructured, fieldManager string) (*applyoperatorv1.OperatorSpecApplyConfiguration, error) {
	cr, err := clusterCSIDriver(obj)
	if err != nil {
		return nil, err
	}
	owned, err := applyoperatorv1.ExtractClusterCSIDriver(cr, fieldManager)
	if err != nil {
		return nil, fmt.Errorf("extracting the fields of %q from ClusterCSIDriver %s: %w", fieldManager, obj.GetName(), err)
	}
	if owned.Spec == nil {
		return nil, nil
	}
	return &owned.Spec.OperatorSpecApplyConfiguration, nil
}

// extractOperatorStatus returns what fieldManager owns in the status of a ClusterCSIDriver.
func extractOperatorStatus(obj *unstructured.Unstructured, fieldManager string) (*applyoperatorv1.OperatorStatusApplyConfiguration, error) {
	cr, err := clusterCSIDriver(obj)
	if err != nil {
		return nil, err
	}
	owned, err := applyoperatorv1.ExtractClusterCSIDriverStatus(cr, fieldManager)
	if err != nil {
		return nil, fmt.Errorf("extracting the status of %q from ClusterCSIDriver %s: %w", fieldManager, obj.GetName(), err)
	}
	if owned.Status == nil {
		return nil, nil
	}
	return &owned.Status.OperatorStatusApplyConfiguration, nil
}

func clusterCSIDriver(obj *unstructured.Unstructured) (*operatorv1.ClusterCSIDriver, error) {
	cr := &operatorv1.ClusterCSIDriver{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, cr); err != nil {
		return nil, fmt.Errorf("decoding ClusterCSIDriver %s: %w", obj.GetName(), err)
	}
	return cr, nil
}
