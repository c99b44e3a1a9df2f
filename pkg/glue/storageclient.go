package glue

import (
	"context"
	"fmt"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// FieldManager starts the names of the field managers that write Storage/cluster. CSO's
// controllers have the same names as ours, but for this.
const FieldManager = "ceph-cluster-storage-"

// StatusManager is the field manager of ClusterOperator storage: library-go leaves it to
// client-go, which takes the user agent.
const StatusManager = driver.Program

// IsOurs says whether a field manager is one of `cluster-storage`.
func IsOurs(manager string) bool { return strings.HasPrefix(manager, FieldManager) }

// storageClient is the client of Storage/cluster.
type storageClient struct {
	v1helpers.OperatorClientWithFinalizers
}

// ApplyOperatorStatus writes as a field manager of our own. Without a Storage/cluster,
// conditions have nowhere to go, and that is no error.
func (c storageClient) ApplyOperatorStatus(ctx context.Context, fieldManager string, status *applyoperatorv1.OperatorStatusApplyConfiguration) error {
	err := c.OperatorClientWithFinalizers.ApplyOperatorStatus(ctx, FieldManager+strings.TrimPrefix(fieldManager, FieldManager), status)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// ExtractSpec returns what fieldManager owns in the spec of Storage/cluster.
func ExtractSpec(obj *unstructured.Unstructured, fieldManager string) (*applyoperatorv1.OperatorSpecApplyConfiguration, error) {
	storage, err := decode(obj)
	if err != nil {
		return nil, err
	}
	owned, err := applyoperatorv1.ExtractStorage(storage, fieldManager)
	if err != nil {
		return nil, fmt.Errorf("extracting the fields of %q from Storage %s: %w", fieldManager, obj.GetName(), err)
	}
	if owned.Spec == nil {
		return nil, nil
	}
	return &owned.Spec.OperatorSpecApplyConfiguration, nil
}

// ExtractStatus returns what fieldManager owns in the status of Storage/cluster.
func ExtractStatus(obj *unstructured.Unstructured, fieldManager string) (*applyoperatorv1.OperatorStatusApplyConfiguration, error) {
	storage, err := decode(obj)
	if err != nil {
		return nil, err
	}
	owned, err := applyoperatorv1.ExtractStorageStatus(storage, fieldManager)
	if err != nil {
		return nil, fmt.Errorf("extracting the status of %q from Storage %s: %w", fieldManager, obj.GetName(), err)
	}
	if owned.Status == nil {
		return nil, nil
	}
	return &owned.Status.OperatorStatusApplyConfiguration, nil
}

func decode(obj *unstructured.Unstructured) (*operatorv1.Storage, error) {
	storage := &operatorv1.Storage{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, storage); err != nil {
		return nil, fmt.Errorf("decoding Storage %s: %w", obj.GetName(), err)
	}
	return storage, nil
}
