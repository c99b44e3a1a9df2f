package controller

import (
	"maps"

	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// spec is an informer that is silent about the status of objects.
type spec struct{ factory.Informer }

// SpecChanges tells of objects that come, go, or have another spec or other annotations, where settings
// may stand. All conditions of all controllers stand in the status of the ClusterCSIDriver: a controller
// that reads what people want there, and no condition, would otherwise wake with every change of one.
func SpecChanges(informer factory.Informer) factory.Informer { return spec{informer} }

func (s spec) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return s.Informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: listener.OnAdd,
		UpdateFunc: func(before, now any) {
			if !sameSpec(before, now) {
				listener.OnUpdate(before, now)
			}
		},
		DeleteFunc: listener.OnDelete,
	})
}

// sameSpec says that only status or other metadata differ.
func sameSpec(before, now any) bool {
	was, err := meta.Accessor(before)
	if err != nil {
		return false
	}
	is, err := meta.Accessor(now)
	return err == nil && was.GetUID() == is.GetUID() && was.GetGeneration() == is.GetGeneration() &&
		maps.Equal(was.GetAnnotations(), is.GetAnnotations())
}

// where is an informer that is silent about some objects.
type where struct {
	factory.Informer
	matters factory.EventFilterFunc
}

// Where tells of objects for which matters holds, or held before a change. It is called with what events
// carry; see Object.
func Where(informer factory.Informer, matters factory.EventFilterFunc) factory.Informer {
	return &where{informer, matters}
}

// Only is Named for those who take informers.
func Only(informer factory.Informer, names ...string) factory.Informer {
	return Where(informer, Named(names...))
}

func (w *where) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return w.Informer.AddEventHandler(cache.FilteringResourceEventHandler{FilterFunc: w.matters, Handler: listener})
}
