package clusterstorage

import (
	"context"
	"strings"

	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

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
