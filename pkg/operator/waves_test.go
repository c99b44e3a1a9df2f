package operator

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
)

func TestWaves(t *testing.T) {
	tests := map[string]struct {
		reason    string
		state     operatorv1.ManagementState
		installed bool
		pass      time.Duration // between two syncs
		want      string
	}{
		"Installation": {"the files of a wave together; what comes at once afterwards waits", operatorv1.Managed, false, 0, "10_a+10_b 20_a+20_b"},
		"Review":       {"then everything is compared, in order", operatorv1.Managed, false, reviewAfter, "10_a+10_b 20_a+20_b inner"},
		"Installed":    {"nothing is gained, and inner compares them anyway", operatorv1.Managed, true, 0, "inner inner"},
		"Unmanaged":    {"nothing may be written", operatorv1.Unmanaged, false, 0, "inner inner"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var got, wave []string
			together := map[string]*sync.WaitGroup{"1": {}, "2": {}}
			for _, w := range together {
				w.Add(2)
			}
			now := clocktesting.NewFakePassiveClock(time.Now())
			w := waves{
				inner:     func(context.Context, factory.SyncContext) error { got = append(got, "inner"); return nil },
				operator:  conditiontest.New(tc.state),
				installed: func() (bool, error) { return tc.installed, nil },
				waves:     byTens([]string{"static/10_a", "static/10_b", "static/20_a", "static/20_b"}),
				clock:     now,
				apply: func(_ context.Context, _ factory.SyncContext, file string) {
					file = strings.TrimPrefix(file, "static/")
					together[file[:1]].Done()
					together[file[:1]].Wait() // ends only if they run at the same time
					mu.Lock()
					defer mu.Unlock()
					if wave = append(wave, file); len(wave) == 2 {
						slices.Sort(wave)
						got, wave = append(got, strings.Join(wave, "+")), nil
					}
				},
			}
			syncCtx := factory.NewSyncContext("test", events.NewInMemoryRecorder("test", now))
			for range 2 {
				if err := w.sync(t.Context(), syncCtx); err != nil {
					t.Fatal(err)
				}
				now.SetTime(now.Now().Add(tc.pass))
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
