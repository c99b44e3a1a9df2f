package classes

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// syncTimeout is how long the first list of a kind may take.
const syncTimeout = 10 * time.Second

// watch follows the classes of a kind for as long as its CRD exists: an informer of a kind
// that the API server does not know would fail for ever.
type watch struct {
	resource schema.GroupVersionResource
	informer cache.SharedIndexInformer
	stop     context.CancelFunc
}

// newWatch returns once the first list is there. onChange is called for each later change.
func newWatch(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, onChange func()) (*watch, error) {
	ctx, stop := context.WithCancel(ctx)
	informer := dynamicinformer.NewFilteredDynamicInformer(client, resource, metav1.NamespaceAll, 0, nil, nil).Informer()
	_, err := informer.AddEventHandler(ctrl.Waking(onChange))
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching %s: %w", resource.GroupResource(), err)
	}
	go informer.RunWithContext(ctx)
	wait, cancel := context.WithTimeout(ctx, syncTimeout)
	defer cancel()
	if !cache.WaitForCacheSync(wait.Done(), informer.HasSynced) {
		stop()
		return nil, fmt.Errorf("listing %s got no answer within %s; may the operator list and watch them?", resource.GroupResource(), syncTimeout)
	}
	return &watch{resource: resource, informer: informer, stop: stop}, nil
}

func (w *watch) all() []*unstructured.Unstructured {
	var classes []*unstructured.Unstructured
	for _, object := range w.informer.GetStore().List() {
		if class, ok := object.(*unstructured.Unstructured); ok {
			classes = append(classes, class)
		}
	}
	return classes
}

// get returns the class of that name, or nil.
func (w *watch) get(name string) *unstructured.Unstructured {
	object, found, _ := w.informer.GetStore().GetByKey(name)
	class, ok := object.(*unstructured.Unstructured)
	if !found || !ok {
		return nil
	}
	return class
}
