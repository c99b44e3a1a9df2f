//go:build cgo

package rados

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

const group = "csi"

var tagsOfA = map[string]string{ceph.TagCluster: "cluster-a"}

// files is a filesystem with a connection to its Ceph.
type files struct {
	ceph    *cephdaemons.Ceph
	conn    *Conn
	manager *Manager
	mount   *Mount
}

func newFiles(t *testing.T, c *cephdaemons.Ceph) files {
	t.Helper()
	conn, err := Dial(t.Context(), source(t, c), Options{})
	check(t, err)
	t.Cleanup(conn.Close)
	ensureGroup(t, conn, group)
	manager, err := conn.Manager(t.Context())
	check(t, err)
	t.Cleanup(manager.Close)
	check(t, manager.CheckActive(t.Context(), cephdaemons.Filesystem))
	mount, err := conn.Mount(t.Context(), cephdaemons.Filesystem)
	check(t, err)
	t.Cleanup(mount.Close)
	return files{ceph: c, conn: conn, manager: manager, mount: mount}
}

// ensureGroup waits for an MDS: a test before may have had it started anew, and it replays for seconds.
func ensureGroup(t *testing.T, conn *Conn, name string) {
	t.Helper()
	eventually(t, func() bool {
		err := conn.EnsureSubvolumeGroup(t.Context(), cephdaemons.Filesystem, name)
		if !errors.Is(err, ceph.ErrNoActiveMDS) {
			check(t, err)
		}
		return err == nil
	})
}

// run runs `ceph fs …` on the filesystem and the group.
func (f files) run(t *testing.T, words []string, names ...string) {
	t.Helper()
	arguments := slices.Concat([]string{"fs"}, words, []string{cephdaemons.Filesystem}, names, []string{"--group_name", group})
	command(t, f.ceph, arguments...)
}

func place(name string) ceph.SubvolumePlace {
	return ceph.SubvolumePlace{Filesystem: cephdaemons.Filesystem, Group: group, Name: name}
}

func testSubvolumes(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	subvolume := func(verb ...string) []string { return append([]string{"subvolume"}, verb...) }
	f.run(t, subvolume("create"), "v", "--size", "1048576")
	f.run(t, subvolume("metadata", "set"), "v", ceph.TagCluster, "cluster-a")
	f.run(t, subvolume("snapshot", "create"), "v", "s")
	f.run(t, subvolume("snapshot", "metadata", "set"), "v", "s", ceph.TagCluster, "cluster-a")
	ctx := t.Context()

	groups, err := f.manager.SubvolumeGroups(ctx, cephdaemons.Filesystem)
	if err != nil || !slices.Contains(groups, group) {
		t.Errorf("groups: %q, %v", groups, err)
	}
	names, err := f.manager.Subvolumes(ctx, cephdaemons.Filesystem, group)
	expect(t, "subvolumes", []string{"v"}, names, err)
	info, err := f.manager.Subvolume(ctx, place("v"))
	if age := time.Since(info.Created); age < 0 || age > time.Hour {
		t.Errorf("created %s ago", age)
	}
	f.checkFiles(t, "v", info)
	info.Created = time.Time{}
	expect(t, "info", ceph.Subvolume{Type: "subvolume", State: ceph.SubvolumeComplete, Size: 1048576}, info, err)
	metadata, err := f.manager.SubvolumeMetadata(ctx, place("v"))
	expect(t, "metadata", tagsOfA, metadata, err)
	snapshots, err := f.manager.SubvolumeSnapshots(ctx, place("v"))
	expect(t, "snapshots", []string{"s"}, snapshots, err)
	metadata, err = f.manager.SnapshotMetadata(ctx, place("v"), "s")
	expect(t, "metadata of the snapshot", tagsOfA, metadata, err)
	copied, err := f.manager.SnapshotCopied(ctx, place("v"), "s")
	expect(t, "copied", false, copied, err)
	meta, err := f.mount.SubvolumeMeta(ctx, group, "v")
	meta.Type, meta.State, meta.Path = "", "", ""
	expect(t, "file", ceph.SubvolumeMeta{Version: 2, Metadata: tagsOfA, Snapshots: map[string]map[string]string{"s": tagsOfA}}, meta, err)

	if err := f.manager.RemoveSubvolume(ctx, place("v"), false); !errors.Is(err, ceph.ErrNotEmpty) {
		t.Errorf("a subvolume with a snapshot: %v", err)
	}
	check(t, f.manager.RemoveSubvolume(ctx, place("v"), true))
	info, err = f.manager.Subvolume(ctx, place("v"))
	expect(t, "retained", ceph.Subvolume{Type: "subvolume", State: ceph.SubvolumeRetained}, info, err)
	if _, err := f.manager.SubvolumeMetadata(ctx, place("v")); !errors.Is(err, ceph.ErrNotFound) {
		t.Errorf("metadata of a retained subvolume: %v", err)
	}
	meta, err = f.mount.SubvolumeMeta(ctx, group, "v")
	expect(t, "file of the retained one", ceph.SubvolumeMeta{
		Version: 2, Type: "subvolume", State: ceph.SubvolumeRetained, Metadata: map[string]string{}, Snapshots: map[string]map[string]string{"s": tagsOfA},
	}, meta, err)
	snapshots, err = f.mount.SubvolumeSnapshots(ctx, group, "v")
	expect(t, "snapshots of the retained one, from the files", []string{"s"}, snapshots, err)
	for range 2 {
		check(t, f.manager.RemoveSubvolumeSnapshot(ctx, place("v"), "s"))
		check(t, f.manager.RemoveSubvolume(ctx, place("v"), false))
	}
	names, err = f.manager.Subvolumes(ctx, cephdaemons.Filesystem, group)
	expect(t, "subvolumes at the end", nil, names, err)
	if _, err := f.mount.SubvolumeMeta(ctx, group, "v"); !errors.Is(err, ceph.ErrNotFound) {
		t.Errorf("file of a missing subvolume: %v", err)
	}
}

// checkFiles: the files tell what the mgr tells.
func (f files) checkFiles(t *testing.T, name string, info ceph.Subvolume) {
	t.Helper()
	f.run(t, []string{"subvolume", "create"}, "endless")
	defer f.run(t, []string{"subvolume", "rm"}, "endless")
	for name, want := range map[string]ceph.SubvolumeFolder{name: {Size: info.Size, Created: info.Created}, "endless": {}} {
		meta, err := f.mount.SubvolumeMeta(t.Context(), group, name)
		check(t, err)
		folder, err := f.mount.SubvolumeFolder(t.Context(), meta.Path)
		if want.Created.IsZero() {
			folder.Created = want.Created
		}
		expect(t, "folder of "+name, want, folder, err)
	}
	snapshots, err := f.mount.SubvolumeSnapshots(t.Context(), group, name)
	expect(t, "snapshots from the files", []string{"s"}, snapshots, err)
	snapshots, err = f.mount.SubvolumeSnapshots(t.Context(), group, "endless")
	expect(t, "no snapshots from the files", nil, snapshots, err)
	if _, err := f.mount.SubvolumeFolder(t.Context(), "/volumes/csi/none"); !errors.Is(err, ceph.ErrNotFound) {
		t.Errorf("a missing folder: %v", err)
	}
}

func expect[T any](t *testing.T, what string, want, got T, err error) {
	t.Helper()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
	}
}

func testClients(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	credentials := addReader(t, c)
	isReader := func(s ceph.Session) bool { return s.Entity == credentials.Entity() }
	sessions, err := f.conn.Sessions(t.Context())
	if err != nil || slices.ContainsFunc(sessions, isReader) {
		t.Errorf("before: %v, %v", sessions, err)
	}
	declared := source(t, c)
	declared.Credentials = credentials
	reader, err := Dial(t.Context(), declared, quick)
	check(t, err)
	defer reader.Close()
	sessions, err = f.conn.Sessions(t.Context())
	if err != nil || !slices.ContainsFunc(sessions, isReader) {
		t.Errorf("a user with a session: %v, %v", sessions, err)
	}
	clients, err := f.mount.Clients(t.Context())
	if err != nil || !slices.ContainsFunc(clients, func(c ceph.FileClient) bool { return c.Entity == "client.admin" && c.Root == "/" }) {
		t.Errorf("clients of the filesystem: %v, %v", clients, err)
	}
	if _, err := reader.Mount(t.Context(), cephdaemons.Filesystem); !errors.Is(err, ceph.ErrDenied) {
		t.Errorf("a user without mds caps mounts: %v", err)
	}
	for range 2 {
		check(t, f.conn.RemoveUser(t.Context(), credentials.UserID))
	}
	if _, err := f.conn.User(t.Context(), credentials.UserID); !errors.Is(err, ceph.ErrNotFound) {
		t.Errorf("a removed user: %v", err)
	}
}

// TestRanks: clients of a rank that nobody can ask are not known.
func TestRanks(t *testing.T) {
	c := startCeph(t)
	f := newFiles(t, c)
	deadline, tick := time.After(2*time.Minute), time.Tick(200*time.Millisecond)
	until := func(what string, reached func(ceph.FileSystem) bool) {
		t.Helper()
		for {
			all, err := f.conn.FileSystems(t.Context())
			check(t, err)
			if i := slices.IndexFunc(all, func(f ceph.FileSystem) bool { return f.Name == cephdaemons.Filesystem }); reached(all[i]) {
				return
			}
			select {
			case <-tick:
			case <-deadline:
				t.Fatalf("%s: %+v", what, all)
			}
		}
	}
	answers := func(ceph.FileSystem) bool {
		_, err := f.mount.Clients(t.Context())
		return err == nil
	}
	check(t, c.AddMDS(t.Context(), "b"))
	command(t, c, "fs", "set", cephdaemons.Filesystem, "max_mds", "2")
	until("a second rank", func(f ceph.FileSystem) bool { return len(f.Ranks) == 2 })
	until("both ranks answer", answers)
	until("both ranks serve", func(f ceph.FileSystem) bool { return f.Active })
	command(t, c, "fs", "set", cephdaemons.Filesystem, "joinable", "false")
	command(t, c, "mds", "fail", cephdaemons.Filesystem+":1")
	if clients, err := f.mount.Clients(t.Context()); !errors.Is(err, ceph.ErrNoActiveMDS) {
		t.Errorf("rank 1 has no MDS, and its clients are said to be %v (%v)", clients, err)
	}
	until("rank 1 serves nobody", func(f ceph.FileSystem) bool { return !f.Active })
	command(t, c, "fs", "set", cephdaemons.Filesystem, "joinable", "true")
	until("both ranks answer again", answers)
	command(t, c, "fs", "set", cephdaemons.Filesystem, "max_mds", "1")
	until("one rank", func(f ceph.FileSystem) bool { return len(f.Ranks) == 1 && f.Active })
}

// testManagerGivenUp: whoever gives up a command gets the next one answered all the same.
func testManagerGivenUp(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.manager.Subvolumes(ended, cephdaemons.Filesystem, group); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("a context that has ended: %v", err)
	}
	_, err := f.manager.Subvolumes(t.Context(), cephdaemons.Filesystem, group)
	check(t, err)
	f.manager.Close()
	if _, err := f.manager.Subvolumes(t.Context(), cephdaemons.Filesystem, group); !errors.Is(err, ceph.ErrClosed) {
		t.Errorf("a closed manager: %v", err)
	}
}
