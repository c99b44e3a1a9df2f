package subvolumes

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// fakeMount is the filesystem as a client sees it.
type fakeMount struct {
	*fakeFiles
	// change makes of a subvolume's file something else.
	change func(*ceph.SubvolumeMeta) error
	// noFolders are subvolumes whose data is gone.
	noFolders bool
}

func (m fakeMount) SubvolumeMeta(_ context.Context, _, name string) (ceph.SubvolumeMeta, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.subvolumes[name]
	if !ok || s.state == "broken" {
		return ceph.SubvolumeMeta{}, teardowntest.Errno("open", syscall.ENOENT)
	}
	meta := ceph.SubvolumeMeta{
		Version: 2, Type: "subvolume", State: s.state, Path: "/volumes/csi/" + name + "/data",
		Metadata: maps.Clone(s.metadata), Snapshots: map[string]map[string]string{},
	}
	for name, snap := range s.snapshots {
		meta.Snapshots[name] = snap.metadata
		if snap.copied {
			meta.Copying = append(meta.Copying, name)
		}
	}
	if m.change != nil {
		return meta, m.change(&meta)
	}
	return meta, nil
}

// SubvolumeSnapshots of the mount is that of the mgr, with other arguments.
func (m fakeMount) SubvolumeSnapshots(_ context.Context, _, name string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.subvolumes[name]
	if !ok {
		return nil, teardowntest.Errno("opendir", syscall.ENOENT)
	}
	return slices.Sorted(maps.Keys(s.snapshots)), nil
}

func (m fakeMount) SubvolumeFolder(context.Context, string) (ceph.SubvolumeFolder, error) {
	if m.noFolders {
		return ceph.SubvolumeFolder{}, teardowntest.Errno("statx", syscall.ENOENT)
	}
	return ceph.SubvolumeFolder{Size: 1 << 30}, nil
}

// countingManager counts what the mgr is asked of single subvolumes.
type countingManager struct {
	*fakeFiles
	asked atomic.Int32
}

func (m *countingManager) SubvolumeMetadata(ctx context.Context, place ceph.SubvolumePlace) (map[string]string, error) {
	m.asked.Add(1)
	return m.fakeFiles.SubvolumeMetadata(ctx, place)
}

// TestFilesTellWhatTheManagerTells: where the files tell nothing, or nothing that is understood, the
// mgr is asked, and says the same.
func TestFilesTellWhatTheManagerTells(t *testing.T) {
	f, _ := layout(t)
	a, b := tenant{f, "a"}, tenant{f, "b"}
	a.clone(a.volume())
	b.snapshot(a.volume())
	copied := a.snapshot(a.volume())
	for _, s := range f.subvolumes {
		if snapshot := s.snapshots["csi-snap-"+copied]; snapshot != nil {
			snapshot.copied = true
		}
	}
	f.subvolumes["csi-vol-"+a.volume()].state = "broken"
	find := func(mount fakeMount) (plan, int) {
		manager := &countingManager{fakeFiles: f}
		part := &part{manager: manager, Config: Config{
			Options: teardown.Options{InfraID: "a", JournalNamespaces: journalNamespaces}, Ceph: f, Clock: clock.RealClock{},
			Mount: func(context.Context, string) (Mount, error) { return mount, nil },
		}}
		if _, err := part.Find(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		return part.plans[0], int(manager.asked.Load())
	}
	// Of those that only their snapshots keep, the mgr does not tell the tags.
	except := func(change func(*ceph.SubvolumeMeta) error) func(*ceph.SubvolumeMeta) error {
		return func(m *ceph.SubvolumeMeta) error {
			if m.State == ceph.SubvolumeRetained {
				return nil
			}
			return change(m)
		}
	}
	want, all := find(fakeMount{fakeFiles: f, change: except(func(*ceph.SubvolumeMeta) error { return teardowntest.Errno("open", syscall.EIO) })})
	if len(want.goes) == 0 || all < 5 {
		t.Fatalf("the mgr was asked %d times of %d: %+v", all, len(f.subvolumes), want.decisions)
	}
	tests := map[string]struct {
		mount fakeMount
		// The mgr is asked of so many, at least and at most.
		least, most int
	}{
		"Files":    {mount: fakeMount{}, least: 1, most: 1},
		"Version1": {mount: fakeMount{change: except(func(m *ceph.SubvolumeMeta) error { m.Version = 1; return nil })}, least: all, most: all},
		"Type":     {mount: fakeMount{change: except(func(m *ceph.SubvolumeMeta) error { m.Type = "new"; return nil })}, least: all, most: all},
		"NoFolder": {mount: fakeMount{noFolders: true}, least: 2, most: all - 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.mount.fakeFiles = f
			got, asked := find(tc.mount)
			if diff := cmp.Diff(want.decisions, got.decisions); diff != "" {
				t.Errorf("(-the mgr's +the files'):\n%s", diff)
			}
			if diff := cmp.Diff(want.tags, got.tags); diff != "" || asked < tc.least || asked > tc.most {
				t.Errorf("the mgr was asked of %d of %d, tags: %s", asked, all, diff)
			}
		})
	}
}
