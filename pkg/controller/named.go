package controller

import (
	"slices"

	"github.com/openshift/library-go/pkg/controller/factory"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Named passes on events of objects with one of the names. Unlike library-go's NamesFilter it
// passes on deletions, too, that happened while the watch was down: those come wrapped in
// cache.DeletedFinalStateUnknown, and nothing tells of them a second time.
func Named(names ...string) factory.EventFilterFunc {
	return func(object any) bool {
		o, err := meta.Accessor(Object(object))
		return err == nil && slices.Contains(names, o.GetName())
	}
}

// Object is what an event is about: the last known state, where an object was deleted unseen.
func Object(object any) any {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return gone.Obj
	}
	return object
}
