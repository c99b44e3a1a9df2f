package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

var (
	clusterCSIDrivers = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}
	deployments       = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	daemonSets        = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	secrets           = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	pods              = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	storageClasses    = schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}
	snapshotClasses   = schema.GroupVersionResource{Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses"}
)

// patience is how long anything may take that is measured in seconds.
const patience = 2 * time.Minute

// version is one version of an object.
type version struct {
	// at is when the watch told of it.
	at       time.Time
	resource schema.GroupVersionResource
	event    watch.EventType
	object   *unstructured.Unstructured
}

// is says whether the version is of a named object that exists.
func (v version) is(resource schema.GroupVersionResource, name string) bool {
	return v.resource == resource && v.object.GetName() == name && v.event != watch.Deleted
}

// tape has what watches told, with the time.
type tape struct {
	mu       sync.Mutex
	versions []version
	// more is closed and replaced whenever there is more.
	more chan struct{}
	// broken says which watch has ended.
	broken error
}

// record watches until ctx ends, from what there is on.
func record(ctx context.Context, client dynamic.Interface) (*tape, error) {
	t := &tape{more: make(chan struct{})}
	for _, resource := range []schema.GroupVersionResource{
		clusterCSIDrivers, deployments, daemonSets, secrets, storageClasses, snapshotClasses,
	} {
		objects := client.Resource(resource)
		there, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
		for i := range there.Items {
			t.add(version{time.Now(), resource, watch.Added, &there.Items[i]}, nil)
		}
		// The API server ends watches at any time.
		w, err := watchtools.NewRetryWatcherWithContext(ctx, there.GetResourceVersion(), &cache.ListWatch{WatchFuncWithContext: objects.Watch})
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", resource.Resource, err)
		}
		go t.follow(resource, w)
	}
	return t, nil
}

func (t *tape) follow(resource schema.GroupVersionResource, w watch.Interface) {
	for event := range w.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Bookmark {
			continue
		}
		t.add(version{time.Now(), resource, event.Type, object}, nil)
	}
	t.add(version{}, fmt.Errorf("the watch of %s ended", resource.Resource))
}

func (t *tape) add(v version, broken error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if broken != nil {
		t.broken = broken
	} else {
		t.versions = append(t.versions, v)
	}
	close(t.more)
	t.more = make(chan struct{})
}

// since are the versions that were told at begin or later, and a channel that is closed when
// there are more.
func (t *tape) since(begin time.Time) (versions []version, more <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.versions {
		if !v.at.Before(begin) {
			versions = append(versions, v)
		}
	}
	return versions, t.more, t.broken
}

// first waits for the first version since begin that matches. what it is stands in the error.
func (t *tape) first(ctx context.Context, begin time.Time, what string, match func(version) bool) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		versions, more, err := t.since(begin)
		for _, v := range versions {
			if match(v) {
				return v, nil
			}
		}
		if err != nil {
			return version{}, err
		}
		select {
		case <-more:
		case <-ctx.Done():
			return version{}, fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// latest waits until every match has had its first version, and returns when the last had.
func (t *tape) latest(ctx context.Context, begin time.Time, what string, matches ...func(version) bool) (time.Time, error) {
	var at time.Time
	for _, match := range matches {
		v, err := t.first(ctx, begin, what, match)
		if err != nil {
			return at, err
		}
		if v.at.After(at) {
			at = v.at
		}
	}
	return at, nil
}

// named matches the versions of a named object that exists.
func named(resource schema.GroupVersionResource, name string) func(version) bool {
	return func(v version) bool { return v.is(resource, name) }
}
