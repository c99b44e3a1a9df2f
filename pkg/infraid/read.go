package infraid

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// Read asks the API server who a cluster is to Ceph: what its operators remember, and otherwise said,
// which is status.infrastructureName of its Infrastructure. Operators that remember different ones,
// and what cannot be read, are errors.
func Read(ctx context.Context, kube kubernetes.Interface, said string) (string, error) {
	infraID, from := said, ""
	for _, d := range driver.All {
		remembered, err := read(ctx, kube, d)
		if err != nil {
			return "", err
		}
		if from != "" && remembered != "" && remembered != infraID {
			return "", fmt.Errorf("ConfigMap %s/%s remembers the infra ID %q, and %s %q: correct key %s of the one that is wrong",
				driver.Namespace, from, infraID, d.StateConfigMap(), remembered, state.InfraIDKey)
		}
		if remembered != "" {
			infraID, from = remembered, d.StateConfigMap()
		}
	}
	return infraID, nil
}

func read(ctx context.Context, kube kubernetes.Interface, d driver.Driver) (string, error) {
	configMap, err := kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, d.StateConfigMap(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading ConfigMap %s/%s: %w", driver.Namespace, d.StateConfigMap(), err)
	}
	remembered, _, err := state.InfraIDs(nil, nil, d).In(configMap.Data)
	return remembered.ID, err
}
