package controller

import (
	"errors"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// together is an informer that tells all its listeners in one go.
type together struct {
	cache.SharedIndexInformer

	mu        sync.Mutex
	listeners []cache.ResourceEventHandler
	// heard is the one registration at the informer; nil before the first listener.
	heard cache.ResourceEventHandlerRegistration
	// told says that there was news already, which a new listener has missed.
	told bool
}

// Together returns informer with one buffer and two goroutines for all listeners, not for each:
// those take 25 kB, which dozens of controllers that only put a key into a queue need not have. One
// listener waits for the others: none may block. None can be taken back.
func Together(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	return &together{SharedIndexInformer: informer}
}

// AddEventHandler adds a listener. One that comes after the first news gets a registration of its
// own, by which it hears of all objects that are there.
func (t *together) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return t.SharedIndexInformer.AddEventHandler(listener)
	}
	t.listeners = append(t.listeners, listener)
	if t.heard != nil {
		return t.heard, nil
	}
	var err error
	t.heard, err = t.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			t.tell(func(l cache.ResourceEventHandler) { l.OnAdd(object, initial) })
		},
		UpdateFunc: func(before, now any) { t.tell(func(l cache.ResourceEventHandler) { l.OnUpdate(before, now) }) },
		DeleteFunc: func(object any) { t.tell(func(l cache.ResourceEventHandler) { l.OnDelete(object) }) },
	})
	return t.heard, err
}

func (t *together) tell(news func(cache.ResourceEventHandler)) {
	t.mu.Lock()
	t.told = true
	listeners := t.listeners
	t.mu.Unlock()
	for _, l := range listeners {
		news(l)
	}
}

// RemoveEventHandler refuses: with the one registration, all listeners would go.
func (t *together) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error {
	return errors.New("listeners of an informer that tells them together cannot be removed")
}
