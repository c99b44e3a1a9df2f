//go:build cgo

package rados

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ceph/go-ceph/rados"
	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

const imagesPool = "images"

// imageLab is a pool with the volumes of one cluster, and a connection to it.
type imageLab struct {
	*volumes.Cluster
	conn  *Conn
	pool  ceph.Pool
	class volumes.Class
}

func newImageLab(t *testing.T, c *cephdaemons.Ceph) imageLab {
	t.Helper()
	check(t, c.CreatePool(t.Context(), imagesPool, "rbd"))
	admin, err := volumes.Open(c.ConfFile(), c.KeyringFile())
	check(t, err)
	t.Cleanup(admin.Close)
	check(t, admin.CreateNamespace(volumes.Place{Pool: imagesPool, Namespace: "tenant"}))
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	t.Cleanup(conn.Close)
	pools, err := conn.Pools(t.Context())
	check(t, err)
	n := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == imagesPool })
	return imageLab{admin.Cluster("infra-a", 1), conn, pools[n], volumes.Class{Place: volumes.Place{Pool: imagesPool}, Features: volumes.Layering}}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		check(t, err)
		return value
	}
}

// image reads all images and returns one, by its name; it fails where there is none.
func (l imageLab) image(t *testing.T, name string) ceph.RBDImage {
	t.Helper()
	images, err := l.conn.Images(t.Context(), l.pool, "")
	check(t, err)
	n := slices.IndexFunc(images, func(i ceph.RBDImage) bool { return i.Name == name })
	if n < 0 {
		t.Fatalf("there is no image %s among %d", name, len(images))
	}
	return images[n]
}

func testImages(t *testing.T, c *cephdaemons.Ceph) {
	l := newImageLab(t, c)
	namespaces, err := l.conn.ImageNamespaces(t.Context(), imagesPool)
	if diff := cmp.Diff([]string{"", "tenant"}, namespaces); err != nil || diff != "" {
		t.Errorf("namespaces: %v (-want +got):\n%s", err, diff)
	}
	t.Run("Chain", func(t *testing.T) { testChain(t, l) })
	t.Run("Journals", func(t *testing.T) { testScatteredJournal(t, l) })
	t.Run("Users", func(t *testing.T) { testImageUsers(t, l) })
	t.Run("Groups", func(t *testing.T) { testImageGroup(t, l) })
	t.Run("Manager", func(t *testing.T) { testQueuedRemoval(t, l) })
}

// testChain removes volume, snapshot and restored volume, and looks at them before every step.
func testChain(t *testing.T, l imageLab) {
	volume := must[*volumes.Image](t)(l.Image(l.class, "chain"))
	snapshot := must[*volumes.ImageSnapshot](t)(l.ImageSnapshot(volume, "chain"))
	restored := must[*volumes.Image](t)(l.Restore(snapshot, l.class, "restored"))
	parent, middle, child := l.image(t, volume.Name), l.image(t, snapshot.Name), l.image(t, restored.Name)
	if parent.Metadata[ceph.TagCluster] != "infra-a" || parent.Metadata[ceph.TagPV] != volume.PV() || !parent.Listed || parent.Size != 8<<20 {
		t.Errorf("the volume: %+v", parent)
	}
	if len(parent.Snapshots) != 1 || parent.Snapshots[0].Kind != ceph.TrashSnapshot || !slices.Contains(parent.Snapshots[0].Children, middle.ImageRef) {
		t.Errorf("the volume's snapshots: %+v", parent.Snapshots)
	}
	if middle.Parent == nil || middle.Parent.ImageRef != parent.ImageRef || len(middle.Snapshots) != 1 || middle.Snapshots[0].Kind != ceph.UserSnapshot {
		t.Errorf("the snapshot: %+v", middle)
	}
	if child.Parent == nil || child.Parent.ImageRef != middle.ImageRef {
		t.Errorf("the restored volume: %+v", child)
	}
	check(t, l.conn.RemoveImageSnapshots(t.Context(), middle, middle.Snapshots))
	check(t, l.conn.RemoveImageSnapshots(t.Context(), middle, middle.Snapshots))
	if now := l.image(t, snapshot.Name); len(now.Snapshots) != 1 || now.Snapshots[0].Kind != ceph.TrashSnapshot {
		t.Errorf("a removed snapshot with a clone: %+v", now.Snapshots)
	}
	for range 2 {
		check(t, l.conn.TrashImage(t.Context(), middle))
	}
	if now := l.image(t, snapshot.Name); now.Trash == nil || now.Trash.State != ceph.TrashNormal || now.Listed || now.Metadata[ceph.TagCluster] != "infra-a" {
		t.Errorf("an image in the trash: %+v", now)
	}
	if err := l.conn.RemoveTrash(t.Context(), middle); ceph.Errno(err) != syscall.ENOTEMPTY {
		t.Errorf("removing a parent from the trash: %v", err)
	}
	check(t, l.conn.SetImageMetadata(t.Context(), middle, "key", "value"))
	if now := l.image(t, snapshot.Name); now.Metadata["key"] != "value" {
		t.Errorf("metadata of an image in the trash: %v", now.Metadata)
	}
	for _, i := range []ceph.RBDImage{child, middle, parent} {
		if gone, err := l.conn.ImageGone(t.Context(), i); gone || err != nil {
			t.Errorf("image %s is gone before its removal: %v", i.Name, err)
		}
		if i.ID != middle.ID {
			check(t, l.conn.TrashImage(t.Context(), i))
		}
		check(t, l.conn.RemoveTrash(t.Context(), i))
		check(t, l.conn.RemoveTrash(t.Context(), i))
		if gone, err := l.conn.ImageGone(t.Context(), i); !gone || err != nil {
			t.Errorf("image %s is not gone: %v", i.Name, err)
		}
	}
}

func testScatteredJournal(t *testing.T, l imageLab) {
	volume := must[*volumes.Image](t)(l.Image(l.class, "scattered"))
	check(t, volume.Scatter("tenant", true, "csi.imageid"))
	name := ceph.JournalName{Kind: ceph.JournalVolume, UUID: volume.UUID()}
	pieces, err := l.conn.ImageJournals(t.Context(), imagesPool, []string{"", "tenant"}, []ceph.JournalName{name})
	check(t, err)
	var found ceph.Journal
	for _, j := range ceph.JoinJournals(pieces) {
		if j.Name() == name {
			found = j
		}
	}
	if found.Image != volume.Name || found.ImageID != volume.ID || len(found.Namespaces) != 2 || len(found.Keys) != 1 || found.Keys[0].Namespace != "tenant" {
		t.Errorf("got %+v", found)
	}
}

// testImageUsers: a client that has an image open answers, and one that only reads is none.
func testImageUsers(t *testing.T, l imageLab) {
	free := must[*volumes.Image](t)(l.Image(l.class, "free"))
	used := must[*volumes.Image](t)(l.Image(l.class, "used"))
	client, err := used.Use()
	check(t, err)
	ids := []string{free.ID, used.ID, "none"}
	uses, err := l.conn.ImageUsers(t.Context(), imagesPool, "", ids)
	check(t, err)
	if len(uses) != 1 || !uses[used.ID].Alive || len(uses[used.ID].Clients) != 1 || !strings.Contains(uses[used.ID].Clients[0], "127.0.0.1") {
		t.Errorf("got %+v", uses)
	}
	testUnreadableUsed(t, l, used.ID)
	check(t, l.conn.RemoveTrash(t.Context(), l.image(t, used.Name)))
	if gone, err := l.conn.ImageGone(t.Context(), l.image(t, used.Name)); gone || err != nil {
		t.Errorf("an image that is not in the trash was removed: %v", err)
	}
	check(t, client.Close())
	if uses, err := l.conn.ImageUsers(t.Context(), imagesPool, "", ids); err != nil || len(uses) != 0 {
		t.Errorf("after closing: %+v, %v", uses, err)
	}
}

// testUnreadableUsed: who has an image open answers, though nobody can open it any more.
func testUnreadableUsed(t *testing.T, l imageLab, id string) {
	_, err := in(t.Context(), l.conn, imagesPool, "", func(io *rados.IOContext) (struct{}, error) {
		key := ceph.ImageKeyID + id
		names, err := io.GetOmapValues(imageDirectory, "", key, 1)
		check(t, err)
		check(t, io.RmOmapKeys(imageDirectory, []string{key}))
		defer func() { check(t, io.SetOmap(imageDirectory, names)) }()
		use, err := usersOf(io, id)
		if err != nil || !use.Alive || len(use.Clients) != 1 || !strings.HasPrefix(use.Clients[0], "client.") {
			t.Errorf("without an entry in the directory: %+v, %v", use, err)
		}
		return struct{}{}, nil
	})
	check(t, err)
}

func testImageGroup(t *testing.T, l imageLab) {
	volume := must[*volumes.Image](t)(l.Image(l.class, "grouped"))
	made := must[*volumes.ImageGroup](t)(l.ImageGroup("group", volume))
	check(t, made.Snapshot("gs"))
	groups, err := l.conn.ImageGroups(t.Context(), l.pool, "")
	check(t, err)
	if len(groups) != 1 || groups[0].Name != "csi-vol-group-"+made.UUID() || !slices.Equal(groups[0].Snapshots, []string{"gs"}) {
		t.Fatalf("got %+v", groups)
	}
	image := l.image(t, volume.Name)
	if image.Group == nil || *image.Group != groups[0].GroupRef {
		t.Errorf("the image's group is %v, want %v", image.Group, groups[0].GroupRef)
	}
	// Since Ceph 20.2.4, librbd refuses to.
	trashed := l.conn.TrashImage(t.Context(), image) == nil
	for range 2 {
		check(t, l.conn.RemoveImageGroup(t.Context(), groups[0], []ceph.RBDImage{image}))
	}
	if !trashed {
		check(t, l.conn.TrashImage(t.Context(), image))
	}
	check(t, l.conn.RemoveTrash(t.Context(), image))
	if groups, err := l.conn.ImageGroups(t.Context(), l.pool, ""); err != nil || len(groups) != 0 {
		t.Errorf("left: %+v, %v", groups, err)
	}
}

func testQueuedRemoval(t *testing.T, l imageLab) {
	volume := must[*volumes.Image](t)(l.Image(l.class, "queued"))
	image := l.image(t, volume.Name)
	check(t, l.conn.TrashImage(t.Context(), image))
	check(t, l.conn.QueueTrashRemoval(t.Context(), image))
	eventually(t, func() bool {
		gone, err := l.conn.ImageGone(t.Context(), image)
		check(t, err)
		return gone
	})
}
