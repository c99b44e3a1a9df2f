// Package latest hands a value from the controller that observes it to the controllers
// that use it: the newest one is kept, and every change wakes those who watch.
package latest

import (
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Value holds the newest T. It is a factory.Informer of library-go, so that a controller
// watches it as it watches an API object. The zero Value is empty and ready to use.
type Value[T any] struct {
	mu       sync.Mutex
	value    T
	known    bool
	handlers []cache.ResourceEventHandler
}

// Get returns the newest value; false when none was set yet or it was cleared.
func (v *Value[T]) Get() (T, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value, v.known
}

// Set keeps value and wakes the watchers if it differs from the last one.
func (v *Value[T]) Set(value T) { v.put(value, true) }

// Clear forgets the value and wakes the watchers if there was one.
func (v *Value[T]) Clear() {
	var none T
	v.put(none, false)
}

func (v *Value[T]) put(value T, known bool) {
	v.mu.Lock()
	changed := v.known != known || !reflect.DeepEqual(v.value, value)
	v.value, v.known = value, known
	handlers := append([]cache.ResourceEventHandler(nil), v.handlers...)
	v.mu.Unlock()
	if !changed {
		return
	}
	for _, h := range handlers {
		h.OnUpdate(&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{})
	}
}

// AddEventHandler registers a watcher, called after each change. library-go ignores the
// registration, so there is none.
func (v *Value[T]) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.handlers = append(v.handlers, handler)
	return nil, nil
}

// HasSynced is always true: a value that is not there yet is an ordinary state.
func (v *Value[T]) HasSynced() bool { return true }
