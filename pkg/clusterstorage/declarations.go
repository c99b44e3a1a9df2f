package clusterstorage

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
)

// watchDeclarations has the Secrets that declare Ceph clusters, and no others.
func watchDeclarations(kube kubernetes.Interface) ([]cache.SharedIndexInformer, error) {
	var out []cache.SharedIndexInformer
	for _, s := range configs.Declarations() {
		i := coreinformers.NewFilteredSecretInformer(kube, configs.Namespace, resync, cache.Indexers{}, func(o *metav1.ListOptions) {
			o.FieldSelector, o.LabelSelector = s.Fields, s.Labels
		})
		if err := i.SetTransform(withoutContent); err != nil {
			return nil, fmt.Errorf("preparing the informer of Secrets: %w", err)
		}
		out = append(out, i)
	}
	return out, nil
}

// withoutContent keeps of a Secret that it is there: keys have no business in this process.
func withoutContent(obj any) (any, error) {
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return obj, nil
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: secret.Namespace, Name: secret.Name, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
	}}, nil
}

// declared says whether a Secret declares a Ceph cluster.
func (c *clients) declared() bool {
	return slices.ContainsFunc(c.declarations, func(i cache.SharedIndexInformer) bool { return len(i.GetStore().ListKeys()) > 0 })
}
