package subvolumes

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// stalledManager answers removals only once somebody opens a session with the filesystem.
type stalledManager struct {
	*fakeFiles
	opened chan struct{}
}

func (m stalledManager) RemoveSubvolume(ctx context.Context, place ceph.SubvolumePlace, retain bool) error {
	select {
	case <-m.opened:
		return m.fakeFiles.RemoveSubvolume(ctx, place, retain)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestStalledRemovalsAreHurried: sessions are opened while nothing gets done, and only then.
func TestStalledRemovalsAreHurried(t *testing.T) {
	tests := map[string]struct {
		stalled bool
		least   int32
		most    int32
	}{
		"Stalled": {stalled: true, least: 2, most: 1 << 30},
		// The one that finds.
		"Swift": {least: 1, most: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, _ := layout(t)
			now := clocktesting.NewFakeClock(clock.RealClock{}.Now())
			var manager Manager = f
			stalled := stalledManager{fakeFiles: f, opened: make(chan struct{}, 1)}
			if tc.stalled {
				manager = stalled
			}
			var mounts atomic.Int32
			part := New(Config{
				Options: teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces}, Ceph: f, Clock: now,
				Manager: func(context.Context) (Manager, error) { return manager, nil },
				Mount: func(context.Context, string) (Mount, error) {
					if mounts.Add(1) == 2 {
						close(stalled.opened)
					}
					return fakeMount{fakeFiles: f}, nil
				},
			})
			if tc.stalled {
				defer teardowntest.StepWhileWaiting(now, patience)()
			}
			report, err := teardown.Run(t.Context(), teardown.Config{Options: teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces}, Parts: []teardown.Part{part}, Out: io.Discard})
			if n := mounts.Load(); err != nil || report.Code() != teardown.CodeDone || n < tc.least || n > tc.most {
				t.Errorf("%d mounts, want %d to %d; exit code %d, %v, %q", n, tc.least, tc.most, report.Code(), err, report.Faults)
			}
		})
	}
}
