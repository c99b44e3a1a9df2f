package process

import (
	"context"
	"fmt"
	"sync"

	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/client-go/tools/record"
)

// eventsRemembered are those of a component that are counted rather than told again. client-go remembers 4096 for good,
// which is MBs with messages of a cluster in which much comes and goes.
const eventsRemembered = 256

func eventOptions() record.CorrelatorOptions {
	out := events.RecommendedClusterSingletonCorrelatorOptions()
	out.LRUCacheSize = eventsRemembered
	return out
}

// lazyRecorder makes a recorder when it is first told something.
type lazyRecorder struct {
	name string
	root events.Recorder
	made func() events.Recorder
	// ended says whether the process is to end.
	ended func() bool
}

// lazily returns a recorder whose recorders for components are made when they have an event to
// tell. library-go gives each controller one, with three goroutines and a queue of a thousand
// events (client-go's tools/record/event.go); few ever tell anything. Once the context has ended,
// there are no warnings: what failed then was interrupted, and the next process does it.
func lazily(ctx context.Context, root events.Recorder) events.Recorder {
	return lazyRecorder{root.ComponentName(), root, func() events.Recorder { return root }, func() bool { return ctx.Err() != nil }}
}

func (l lazyRecorder) ForComponent(name string) events.Recorder {
	return lazyRecorder{name, l.root, sync.OnceValue(func() events.Recorder { return l.root.ForComponent(name) }), l.ended}
}

func (l lazyRecorder) WithComponentSuffix(suffix string) events.Recorder {
	return l.ForComponent(l.name + "-" + suffix)
}

func (l lazyRecorder) WithContext(ctx context.Context) events.Recorder {
	return lazyRecorder{l.name, l.root, sync.OnceValue(func() events.Recorder { return l.made().WithContext(ctx) }), l.ended}
}

func (l lazyRecorder) ComponentName() string { return l.name }

func (l lazyRecorder) Event(reason, message string) { l.made().Event(reason, message) }

func (l lazyRecorder) Eventf(reason, format string, args ...any) {
	l.made().Eventf(reason, format, args...)
}

func (l lazyRecorder) Warning(reason, message string) {
	if !l.ended() {
		l.made().Warning(reason, message)
	}
}

func (l lazyRecorder) Warningf(reason, format string, args ...any) {
	l.Warning(reason, fmt.Sprintf(format, args...))
}

func (l lazyRecorder) Shutdown() { l.made().Shutdown() }
