package process

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

// counting knows which components had a recorder made.
type counting struct {
	events.Recorder
	made *[]string
}

func (c counting) ForComponent(name string) events.Recorder {
	*c.made = append(*c.made, name)
	return counting{c.Recorder.ForComponent(name), c.made}
}

func TestLazyRecorder(t *testing.T) {
	tests := map[string]struct {
		tell func(events.Recorder)
		made []string
	}{
		"ManyThatAreSilent": {tell: func(r events.Recorder) {
			r.WithComponentSuffix("one").WithComponentSuffix("two").WithContext(context.Background())
			r.ForComponent("three")
		}},
		"OneForAllEvents": {
			tell: func(r events.Recorder) {
				one := r.WithComponentSuffix("one")
				one.Event("Reason", "first")
				one.Warningf("Reason", "%s", "second")
			},
			made: []string{"root-one"},
		},
		"SuffixOfASuffix": {
			tell: func(r events.Recorder) {
				r.WithComponentSuffix("one").WithComponentSuffix("two").Eventf("Reason", "%s", "first")
			},
			made: []string{"root-one-two"},
		},
		"WithAContext": {
			tell: func(r events.Recorder) {
				r.ForComponent("other").WithContext(context.Background()).Warning("Reason", "first")
			},
			made: []string{"other"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var made []string
			test.tell(lazily(t.Context(), counting{events.NewInMemoryRecorder("root", clock.RealClock{}), &made}))
			if !slices.Equal(made, test.made) {
				t.Errorf("made %q, want %q", made, test.made)
			}
		})
	}
}

// TestLazyRecorderTells: what is told arrives, at the root and at a component.
func TestLazyRecorderTells(t *testing.T) {
	root := events.NewInMemoryRecorder("root", clock.RealClock{})
	recorder := lazily(t.Context(), root)
	recorder.Eventf("AtRoot", "number %d", 1)
	recorder.WithComponentSuffix("one").Warning("AtComponent", "number 2")
	var got []string
	for _, e := range root.Events() {
		got = append(got, e.Type+" "+e.Reason+": "+e.Message)
	}
	want := []string{"Normal AtRoot: number 1", "Warning AtComponent: number 2"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLazyRecorderEnds: a process that is ended warns of nothing that this interrupts.
func TestLazyRecorderEnds(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	root := events.NewInMemoryRecorder("root", clock.RealClock{})
	recorder := lazily(ctx, root)
	component := recorder.WithComponentSuffix("one").WithContext(context.Background())
	end()
	recorder.Warning("AtRoot", "context canceled")
	component.Warningf("AtComponent", "%v", ctx.Err())
	component.Event("StillTold", "it was done")
	if got := root.Events(); len(got) != 1 || got[0].Reason != "StillTold" {
		t.Errorf("got %v", got)
	}
}

// TestEventsForgotten: thousands of different events do not stay in the memory of who told them, and what is repeated is counted.
func TestEventsForgotten(t *testing.T) {
	const told, most = 4096, 1 << 20 // bytes
	options, now := eventOptions(), clocktesting.NewFakePassiveClock(time.Unix(1, 0))
	options.Clock = now
	correlator := record.NewEventCorrelatorWithOptions(options)
	tell := func(i int) *record.EventCorrelateResult {
		t.Helper()
		now.SetTime(now.Now().Add(time.Second)) // No faster: it would be left out.
		event := &corev1.Event{Reason: "ClassChecked", Type: corev1.EventTypeNormal, Source: corev1.EventSource{Component: "class-controller"},
			InvolvedObject: corev1.ObjectReference{Kind: "Deployment", Name: "operator"}, Count: 1,
			Message: fmt.Sprintf("StorageClass crowd-%d: pool %q of Ceph cluster b9127830-b0cc-4e34-aa47-9d1a2e9949a8 does not exist", i, "pool")}
		out, err := correlator.EventCorrelate(event)
		if err != nil {
			t.Fatal(err)
		}
		correlator.UpdateState(out.Event)
		return out
	}
	held := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	for i := range told {
		tell(i)
	}
	if more := int64(held()) - int64(before); more > most {
		t.Errorf("%d events left %d bytes, want at most %d", told, more, most)
	}
	if again := tell(told - 1); again.Event.Count != 2 {
		t.Errorf("the last one, told again: %+v", again.Event)
	}
	runtime.KeepAlive(correlator)
}
