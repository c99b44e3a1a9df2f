package operator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// informVolumes has PersistentVolumes come trimmed, one by one, or page by page where the API server does not stream them: an
// informer of the factory would ask for all at once then, after any error, which takes 150 MB with 20,000 of them.
func informVolumes(all informers.SharedInformerFactory, d driver.Driver) error {
	var trimmer *volumeTrimmer
	informer := all.InformerFor(&corev1.PersistentVolume{}, func(kube kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		client := kube.CoreV1().PersistentVolumes()
		return cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return trimmer.list(ctx, client, o)
			},
			WatchFuncWithContext: client.Watch,
		}, kube), &corev1.PersistentVolume{}, resync, cache.Indexers{})
	})
	trimmer = newVolumeTrimmer(d, informer.GetStore())
	return informer.SetTransform(trimmer.trim)
}

// list asks for the newest, because an API server's cache may not know pages, and trims each page before the next comes.
func (t *volumeTrimmer) list(ctx context.Context, client corev1client.PersistentVolumeInterface, o metav1.ListOptions) (runtime.Object, error) {
	if o.ResourceVersionMatch == "" {
		o.ResourceVersion = ""
	}
	pages := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		page, err := client.List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			if _, err := t.trim(&page.Items[i]); err != nil {
				return nil, fmt.Errorf("PersistentVolume %s: %w", page.Items[i].Name, err)
			}
		}
		return page, nil
	})
	out, _, err := pages.ListWithAlloc(ctx, o)
	return out, err
}
