package cephtest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Metadata is the part of a Connection that reads and changes what is left with volumes.
type Metadata interface {
	JournalEntry(ctx context.Context, pool, namespace, object string) (map[string]string, error)
	ImageMetadata(ctx context.Context, at ceph.ImagePlace) (ceph.ImageMetadata, error)
	ChangeImageMetadata(ctx context.Context, at ceph.ImagePlace, was ceph.ImageMetadata, change ceph.MetadataChange) error
	SubvolumeMetadata(ctx context.Context, filesystem string, places []ceph.SubvolumePlace) ([]ceph.SubvolumeMetadata, error)
	ChangeSubvolumeMetadata(ctx context.Context, filesystem string, changes []ceph.SubvolumeChange) ([]error, error)
	ImageNamespaces(ctx context.Context, pool string) ([]string, error)
	Images(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDImage, error)
	Subvolumes(ctx context.Context, filesystem, group string) ([]string, error)
}

// changeSubvolume changes one subvolume, or a snapshot.
func changeSubvolume(t *testing.T, conn Metadata, at ceph.SubvolumePlace, was map[string]string, change ceph.MetadataChange) error {
	t.Helper()
	errs, err := conn.ChangeSubvolumeMetadata(t.Context(), at.Filesystem, []ceph.SubvolumeChange{{At: at, Was: was, MetadataChange: change}})
	must(t, "Ceph as a whole", err, nil)
	if len(errs) != 1 {
		t.Fatalf("one change has the errors %v", errs)
	}
	return errs[0]
}

// testImageMetadata uses the pool that testPools made.
func testImageMetadata(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	for _, namespace := range []string{"", "tenant"} {
		at := ceph.ImagePlace{Pool: "contract", Namespace: namespace, Name: "csi-vol-1"}
		_, err := conn.ImageMetadata(ctx, at)
		must(t, "no image", err, ceph.ErrNotFound)
		s.AddImage(t, at)
		first, err := conn.ImageMetadata(ctx, at)
		must(t, "new image", err, nil)
		if first.ID == "" || first.Version == 0 || len(first.Values) != 0 {
			t.Errorf("a new image has %+v", first)
		}
		again, err := conn.ImageMetadata(ctx, at)
		must(t, "again", err, nil)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("reading changes the image:\n%s", diff)
		}
		change := ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: "a b/ü", ceph.TagRetain: "true", "empty": ""}}
		must(t, "set", conn.ChangeImageMetadata(ctx, at, first, change), nil)
		second, err := conn.ImageMetadata(ctx, at)
		must(t, "read", err, nil)
		if diff := cmp.Diff(change.Set, second.Values); diff != "" || second.Version <= first.Version || second.ID != first.ID {
			t.Errorf("after a change of %+v: %+v\n%s", first, second, diff)
		}
		must(t, "outdated", conn.ChangeImageMetadata(ctx, at, first, change), ceph.ErrChanged)
		both := ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: "c"}, Remove: []string{ceph.TagRetain, "empty", "none"}}
		must(t, "both", conn.ChangeImageMetadata(ctx, at, second, both), nil)
		third, err := conn.ImageMetadata(ctx, at)
		must(t, "read", err, nil)
		if diff := cmp.Diff(map[string]string{ceph.TagCluster: "c"}, third.Values); diff != "" {
			t.Errorf("after setting and removing at once:\n%s", diff)
		}
		gone := third
		gone.ID = "ffffffffffff"
		must(t, "removed meanwhile", conn.ChangeImageMetadata(ctx, at, gone, both), ceph.ErrNotFound)
		must(t, "removed meanwhile, again", conn.ChangeImageMetadata(ctx, at, gone, both), ceph.ErrNotFound)
		if s.CheckImage != nil {
			s.CheckImage(t, at, third.Values)
		}
		listed, err := conn.Images(ctx, poolNamed(t, conn, at.Pool), namespace)
		must(t, "list", err, nil)
		if len(listed) != 1 || listed[0].Name != at.Name || listed[0].DataPool != 0 {
			t.Fatalf("images in %q: %+v", namespace, listed)
		}
		if diff := cmp.Diff(third.Values, listed[0].Metadata); diff != "" {
			t.Errorf("metadata in the list:\n%s", diff)
		}
	}
	_, err := conn.ImageMetadata(ctx, ceph.ImagePlace{Pool: "none", Name: "x"})
	must(t, "no pool", err, ceph.ErrNotFound)
	at := ceph.ImagePlace{Pool: "contract", Name: "csi-vol-1"}
	reader := as(t, s, s.Reader)
	_, err = reader.ImageMetadata(ctx, at)
	must(t, "reader's read", err, ceph.ErrDenied)
	_, err = reader.Images(ctx, poolNamed(t, conn, at.Pool), "")
	must(t, "reader's list", err, ceph.ErrDenied)
	must(t, "reader's write", reader.ChangeImageMetadata(ctx, at, ceph.ImageMetadata{ID: "1", Version: 1}, ceph.MetadataChange{Remove: []string{"a"}}), ceph.ErrDenied)
}

func testJournals(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	_, err := conn.JournalEntry(ctx, "contract", "", "csi.volume.1")
	must(t, "no journal", err, ceph.ErrNotFound)
	s.AddJournal(t, "contract", "tenant", "csi.volume.1", "csi.imagename", "csi-vol-1")
	_, err = conn.JournalEntry(ctx, "contract", "", "csi.volume.1")
	must(t, "journal elsewhere", err, ceph.ErrNotFound)
	got, err := conn.JournalEntry(ctx, "contract", "tenant", "csi.volume.1")
	must(t, "journal", err, nil)
	if diff := cmp.Diff(map[string]string{"csi.imagename": "csi-vol-1"}, got); diff != "" {
		t.Errorf("journal:\n%s", diff)
	}
}

func testSubvolumeMetadata(t *testing.T, s Subject) {
	ctx, conn := t.Context(), dial(t, s, s.Source)
	at := ceph.SubvolumePlace{Filesystem: s.Active, Group: "csi", Name: "csi-vol-1"}
	none := ceph.SubvolumePlace{Filesystem: s.Active, Group: "csi", Name: "csi-vol-2"}
	ungrouped := ceph.SubvolumePlace{Filesystem: s.Active, Name: "alone"}
	must(t, "group", conn.EnsureSubvolumeGroup(ctx, s.Active, "csi"), nil)
	s.AddSubvolume(t, at)
	s.AddSubvolume(t, ungrouped)
	read := func(want map[string]string) map[string]string {
		t.Helper()
		found, err := conn.SubvolumeMetadata(ctx, s.Active, []ceph.SubvolumePlace{at, none, ungrouped})
		must(t, "read", err, nil)
		if len(found) != 3 {
			t.Fatalf("got %+v", found)
		}
		must(t, "first", found[0].Err, nil)
		must(t, "missing", found[1].Err, ceph.ErrNotFound)
		must(t, "ungrouped", found[2].Err, nil)
		if diff := cmp.Diff(want, found[0].Values); diff != "" {
			t.Errorf("metadata:\n%s", diff)
		}
		return found[0].Values
	}
	was := read(map[string]string{})
	change := ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: "a b/ü", ceph.TagRetain: "true"}}
	must(t, "set", changeSubvolume(t, conn, at, was, change), nil)
	now := read(change.Set)
	must(t, "outdated", changeSubvolume(t, conn, at, was, change), ceph.ErrChanged)
	both := ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: "c"}, Remove: []string{ceph.TagRetain, "none"}}
	must(t, "both", changeSubvolume(t, conn, at, now, both), nil)
	read(map[string]string{ceph.TagCluster: "c"})
	several, err := conn.ChangeSubvolumeMetadata(ctx, s.Active, []ceph.SubvolumeChange{
		{At: none, MetadataChange: both},
		{At: at, Was: change.Set, MetadataChange: both},
		{At: at, Was: both.Set, MetadataChange: ceph.MetadataChange{Set: map[string]string{"d": "e"}}},
	})
	must(t, "several", err, nil)
	if len(several) != 3 {
		t.Fatalf("three changes have the errors %v", several)
	}
	must(t, "no subvolume", several[0], ceph.ErrNotFound)
	must(t, "outdated, among several", several[1], ceph.ErrChanged)
	must(t, "the last of several", several[2], nil)
	read(map[string]string{ceph.TagCluster: "c", "d": "e"})
	_, err = conn.ChangeSubvolumeMetadata(ctx, s.Idle, nil)
	must(t, "change without MDS", err, ceph.ErrNoActiveMDS)
	testSnapshotMetadata(t, s, conn, at)
	_, err = conn.SubvolumeMetadata(ctx, s.Idle, []ceph.SubvolumePlace{{Filesystem: s.Idle, Name: "x"}})
	must(t, "no MDS", err, ceph.ErrNoActiveMDS)
	_, err = conn.SubvolumeMetadata(ctx, "none", nil)
	must(t, "no filesystem", err, ceph.ErrNotFound)
	reader := as(t, s, s.Reader)
	denied, err := reader.SubvolumeMetadata(ctx, s.Active, []ceph.SubvolumePlace{at})
	must(t, "reader", err, nil)
	must(t, "reader's read", denied[0].Err, ceph.ErrDenied)
}

// testSnapshotMetadata takes a snapshot of a subvolume.
func testSnapshotMetadata(t *testing.T, s Subject, conn Connection, of ceph.SubvolumePlace) {
	ctx, at := t.Context(), of
	at.Snapshot = "csi-snap-1"
	read := func() ceph.SubvolumeMetadata {
		t.Helper()
		found, err := conn.SubvolumeMetadata(ctx, of.Filesystem, []ceph.SubvolumePlace{at})
		must(t, "read", err, nil)
		return found[0]
	}
	must(t, "no snapshot", read().Err, ceph.ErrNotFound)
	s.AddSubvolume(t, at)
	was := read()
	must(t, "snapshot", was.Err, nil)
	change := ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: "a b/ü", ceph.TagRetain: "true"}}
	must(t, "set", changeSubvolume(t, conn, at, was.Values, change), nil)
	must(t, "outdated", changeSubvolume(t, conn, at, was.Values, change), ceph.ErrChanged)
	must(t, "remove", changeSubvolume(t, conn, at, change.Set, ceph.MetadataChange{Remove: []string{ceph.TagRetain, "none"}}), nil)
	if diff := cmp.Diff(map[string]string{ceph.TagCluster: "a b/ü"}, read().Values); diff != "" {
		t.Errorf("metadata of a snapshot:\n%s", diff)
	}
	listed := func() []string {
		t.Helper()
		names, err := conn.Subvolumes(ctx, of.Filesystem, of.Group)
		must(t, "list", err, nil)
		return names
	}
	if names := listed(); !slices.Contains(names, of.Name) {
		t.Errorf("the group has %q", names)
	}
	s.RetainSubvolume(t, of)
	if names := listed(); !slices.Contains(names, of.Name) {
		t.Errorf("only a snapshot is left, and the group has %q", names)
	}
	if names, err := conn.Subvolumes(ctx, of.Filesystem, ""); err != nil || !slices.Equal(names, []string{"alone"}) {
		t.Errorf("in no group: %q, %v", names, err)
	}
	_, err := conn.Subvolumes(ctx, s.Idle, "")
	must(t, "list without MDS", err, ceph.ErrNoActiveMDS)
	must(t, "retained", read().Err, ceph.ErrRetained)
	found, err := conn.SubvolumeMetadata(ctx, of.Filesystem, []ceph.SubvolumePlace{of})
	must(t, "the retained one", err, nil)
	must(t, "the retained one", found[0].Err, ceph.ErrRetained)
	must(t, "retained", read().Err, ceph.ErrNotFound)
}

// poolNamed is a pool as it is listed.
func poolNamed(t *testing.T, conn Connection, name string) ceph.Pool {
	t.Helper()
	pools, err := conn.Pools(t.Context())
	must(t, "pools", err, nil)
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no pool %q", name)
	}
	return pools[i]
}
