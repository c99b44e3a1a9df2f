package controller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// Watch is of one object of a kind that comes and goes with its CRD: an informer of a kind
// that the API server does not know would fail for ever. All exported fields are required.
type Watch struct {
	Client          dynamic.Interface
	Resource        schema.GroupVersionResource
	Namespace, Name string
	// Served says whether the CRD exists.
	Served func() bool
	// stop ends the watch; nil while there is none.
	stop context.CancelFunc
}

// Follow starts or ends the watch as the CRD demands, and says whether the kind is served.
// Until ctx ends, wake is called for each change of the object. One worker calls Follow.
func (w *Watch) Follow(ctx context.Context, wake func()) (bool, error) {
	if !w.Served() {
		if w.stop != nil {
			w.stop()
			w.stop = nil
		}
		return false, nil
	}
	if w.stop != nil {
		return true, nil
	}
	only := func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", w.Name).String()
	}
	informer := dynamicinformer.NewFilteredDynamicInformer(w.Client, w.Resource, w.Namespace, 0, nil, only).Informer()
	_, err := informer.AddEventHandler(Waking(wake))
	if err != nil {
		return true, fmt.Errorf("watching %s %s/%s: %w", w.Resource.GroupResource(), w.Namespace, w.Name, err)
	}
	ctx, w.stop = context.WithCancel(ctx)
	go informer.RunWithContext(ctx)
	return true, nil
}

// Waking calls wake for every change of an object.
func Waking(wake func()) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { wake() },
		UpdateFunc: func(any, any) { wake() },
		DeleteFunc: func(any) { wake() },
	}
}
