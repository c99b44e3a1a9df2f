package subvolumes

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// lateFiles is a filesystem in which a node mounts something while a run takes its time.
type lateFiles struct {
	*fakeFiles
	clock *clocktesting.FakeClock
	begun bool
}

// mounts has a node mount what is not removed first.
func (f *lateFiles) mounts(removed string) {
	if f.begun {
		return
	}
	f.begun = true
	f.clock.Step(teardown.Freshness + time.Second)
	for name := range f.subvolumes {
		if name != removed && !strings.Contains(removed, strings.TrimPrefix(name, "csi-vol-")) {
			f.clients = []ceph.FileClient{{Entity: "client.n", Host: "node-1", Root: "/volumes/csi/" + name + "/data"}}
		}
	}
}

func (f *lateFiles) RemoveSubvolume(ctx context.Context, place ceph.SubvolumePlace, retain bool) error {
	defer f.mounts(place.Name)
	return f.fakeFiles.RemoveSubvolume(ctx, place, retain)
}

func (f *lateFiles) DropReferences(ctx context.Context, pool, namespace, handle string, volumes []string, all bool) error {
	defer func() {
		for name, s := range f.subvolumes {
			for snapshot := range s.snapshots {
				if strings.HasSuffix(handle, strings.TrimPrefix(snapshot, "csi-snap-")) {
					f.mounts(name)
				}
			}
		}
	}()
	return f.fakeFiles.DropReferences(ctx, pool, namespace, handle, volumes, all)
}

// TestMountedMeanwhile: a run over thousands of subvolumes takes its time, and the mgr removes one
// under those who have it mounted.
func TestMountedMeanwhile(t *testing.T) {
	tests := map[string]struct {
		reason string
		kind   teardown.Kind
		lay    func(a tenant)
	}{
		"Subvolume": {"the data would go", teardown.Subvolume, func(a tenant) { a.volume(); a.volume() }},
		"Shallow": {"it shows what would go", teardown.ShallowVolume, func(a tenant) {
			a.shallow(a.snapshot(a.volume()))
			a.shallow(a.snapshot(a.volume()))
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := &lateFiles{fakeFiles: newFakeFiles(), clock: clocktesting.NewFakeClock(time.Unix(1e9, 0))}
			tc.lay(tenant{f.fakeFiles, "a"})
			options := teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces, Parallel: 1}
			part := New(Config{
				Options: options, Ceph: f, Clock: f.clock,
				Manager: func(context.Context) (Manager, error) { return f, nil },
				Mount:   func(context.Context, string) (Mount, error) { return fakeMount{fakeFiles: f.fakeFiles}, nil },
			})
			report, err := teardown.Run(t.Context(), teardown.Config{Options: options, Parts: []teardown.Part{part}, Out: &bytes.Buffer{}})
			if err != nil || report.Code() != teardown.CodeFailed || len(f.subvolumes) != 1 {
				t.Fatalf("%s: %v, code %d, left %v", tc.reason, err, report.Code(), f.subvolumes)
			}
			told := 0
			for _, l := range report.Items {
				if l.Kind == tc.kind && strings.Contains(l.Error, "mounted meanwhile at node-1 (client.n)") {
					told++
				}
			}
			if told != 1 {
				t.Errorf("%s: %+v", tc.reason, report.Items)
			}
		})
	}
}
