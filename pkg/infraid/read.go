package infraid

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

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
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	if err := index.Add(configMap); err != nil {
		return "", err
	}
	remembered, _, err := state.InfraIDs(kube.CoreV1(), corelisters.NewConfigMapLister(index), d).Load()
	return remembered.ID, err
}
