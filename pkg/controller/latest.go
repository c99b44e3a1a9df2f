// Package controller is what the project's controllers have in common beside library-go's
// factory: when they run (what informers tell, filtered; kinds that come and go with their CRDs;
// values of other controllers), whether they do, and how a sync that failed is tried again.
package controller

import (
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Latest hands a T from the controller that observes it to those that use it: the newest one is kept,
// and every change wakes those who watch. It is a factory.Informer of library-go, so that a controller
// watches it as it watches an API object. The zero value is empty and ready to use.
type Latest[T any] struct {
	Listeners
	mu    sync.Mutex
	value T
	known bool
}

// Get returns the newest value; false when none was set yet or it was cleared.
func (v *Latest[T]) Get() (T, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.value, v.known
}

// Set keeps value and wakes the watchers if it differs from the last one.
func (v *Latest[T]) Set(value T) { v.put(value, true) }

// Clear forgets the value and wakes the watchers if there was one.
func (v *Latest[T]) Clear() {
	var none T
	v.put(none, false)
}

func (v *Latest[T]) put(value T, known bool) {
	v.mu.Lock()
	changed := v.known != known || !reflect.DeepEqual(v.value, value)
	v.value, v.known = value, known
	v.mu.Unlock()
	if changed {
		v.Wake()
	}
}

// Listeners make of what holds them a factory.Informer of library-go that tells only that something
// has changed. The zero value has none.
type Listeners struct {
	adding   sync.Mutex
	handlers []cache.ResourceEventHandler
}

// AddEventHandler registers a listener. library-go ignores the registration, so there is none.
func (l *Listeners) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	l.adding.Lock()
	defer l.adding.Unlock()
	l.handlers = append(l.handlers, handler)
	return nil, nil
}

// HasSynced is always true: that nothing is known yet, or there is no such kind, is an ordinary state.
func (l *Listeners) HasSynced() bool { return true }

// Wake calls all listeners. Nobody may hold a lock meanwhile that a listener takes.
func (l *Listeners) Wake() {
	l.adding.Lock()
	handlers := slices.Clone(l.handlers)
	l.adding.Unlock()
	for _, h := range handlers {
		h.OnUpdate(&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{})
	}
}
