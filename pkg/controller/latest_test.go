package controller_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

func TestValueWakesOnChange(t *testing.T) {
	set := func(s ...string) func(*ctrl.Latest[[]string]) {
		return func(v *ctrl.Latest[[]string]) { v.Set(s) }
	}
	clear := func(v *ctrl.Latest[[]string]) { v.Clear() }
	tests := map[string]struct {
		reason    string
		steps     []func(*ctrl.Latest[[]string])
		wantWakes int
		wantKnown bool
		want      string
	}{
		"Nothing":       {reason: "the zero Value is empty"},
		"First":         {reason: "a first value is a change", steps: []func(*ctrl.Latest[[]string]){set("a")}, wantWakes: 1, wantKnown: true, want: "a"},
		"First is zero": {reason: "the zero of T is a value too", steps: []func(*ctrl.Latest[[]string]){set()}, wantWakes: 1, wantKnown: true},
		"Equal":         {reason: "values compare by content", steps: []func(*ctrl.Latest[[]string]){set("a"), set("a")}, wantWakes: 1, wantKnown: true, want: "a"},
		"Other":         {reason: "the newest is kept", steps: []func(*ctrl.Latest[[]string]){set("a"), set("b")}, wantWakes: 2, wantKnown: true, want: "b"},
		"Cleared":       {reason: "watchers learn that it is gone", steps: []func(*ctrl.Latest[[]string]){set("a"), clear}, wantWakes: 2},
		"Cleared twice": {reason: "gone is gone", steps: []func(*ctrl.Latest[[]string]){set("a"), clear, clear}, wantWakes: 2},
		"Cleared empty": {reason: "nothing was there", steps: []func(*ctrl.Latest[[]string]){clear}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var value ctrl.Latest[[]string]
			wakes := 0
			handler := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { wakes++ }}
			if _, err := value.AddEventHandler(handler); err != nil {
				t.Fatal(err)
			}
			for _, step := range tc.steps {
				step(&value)
			}
			got, known := value.Get()
			first := ""
			if len(got) > 0 {
				first = got[0]
			}
			if wakes != tc.wantWakes || known != tc.wantKnown || first != tc.want {
				t.Errorf("%s: %d wakes, known %t, value %q; want %d, %t, %q",
					tc.reason, wakes, known, first, tc.wantWakes, tc.wantKnown, tc.want)
			}
		})
	}
}

// A handler may use the value, and a controller of library-go may watch it.
func TestValueTriggersController(t *testing.T) {
	var value ctrl.Latest[int]
	seen := make(chan int, 10)
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	controller := factory.New().WithInformers(&value).WithSync(func(context.Context, factory.SyncContext) error {
		got, _ := value.Get()
		seen <- got
		return nil
	}).ToController("Test", recorder)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go controller.Run(ctx, 1)

	for _, want := range []int{1, 2} {
		value.Set(want)
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("sync saw %d, want %d", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no sync after Set(%d)", want)
		}
	}
}

func TestValueIsSafeForConcurrentUse(t *testing.T) {
	var value ctrl.Latest[int]
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			value.Set(i)
			value.Get()
			_, _ = value.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		})
	}
	wg.Wait()
	if _, known := value.Get(); !known {
		t.Error("no value after eight were set")
	}
}
