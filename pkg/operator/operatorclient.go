package operator

import (
	"context"
	"sync"

	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
