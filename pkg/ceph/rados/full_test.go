//go:build cgo

package rados

import (
	"context"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestFullPools: whoever has a full cluster wants to remove something, and the cluster still lives. Other
// writers wait until there is room.
func TestFullPools(t *testing.T) {
	const pool, namespace, journal, object = "full", "csi", "csi.volume.6e696bba-064f-11ec-a251-0242ac110002", "csi.teardown.images.a"
	c := startCeph(t)
	command(t, c, "osd", "pool", "create", pool, "8")
	command(t, c, "osd", "pool", "application", "enable", pool, "rbd")
	at := ceph.ImagePlace{Pool: pool, Name: "csi-vol-1"}
	addImage(t, c, at)
	_, err := c.RBD(t.Context(), "snap", "create", at.String()+"@s")
	check(t, err)
	addJournal(t, c, pool, namespace, journal, []string{"csi.imagename", at.Name})
	check(t, c.Load(t.Context(), pool))

	as := source(t, c) // Whose rights are no wider than what a driver's administrator may be given.
	as.Credentials = addUser(t, c, "removes", "mon", "profile rbd", "mgr", "profile rbd", "osd", "profile rbd")
	conn, err := Dial(t.Context(), as, Options{OSD: 10 * time.Second, Removes: true})
	check(t, err)
	defer conn.Close()
	operator, err := Dial(t.Context(), as, Options{OSD: 10 * time.Second})
	check(t, err)
	defer operator.Close()
	image := onlyImage(t, conn, pool)
	check(t, c.Fill(t.Context()))
	defer func() { check(t, c.Empty(context.WithoutCancel(t.Context()))) }()
	if !poolNamed(t, conn, pool).Full {
		t.Error("the pool does not show that it is full")
	}
	showsThatItLives(t, operator, pool)
	for _, step := range []struct {
		does string
		do   func() error
	}{
		{"the record of a teardown is written", func() error {
			return conn.AppendRecord(t.Context(), pool, namespace, object, "run", []byte("x"))
		}},
		{"snapshots are removed", func() error { return conn.RemoveImageSnapshots(t.Context(), image, image.Snapshots) }},
		{"an image is moved to the trash, of which there was none", func() error { return conn.TrashImage(t.Context(), image) }},
		{"it is removed from there", func() error { return conn.RemoveTrash(t.Context(), image) }},
		{"its journal is removed", func() error {
			name, _ := ceph.ParseJournalName(journal)
			return conn.RemoveJournal(t.Context(), pool, ceph.Journal{Kind: name.Kind, UUID: name.UUID, Namespaces: []string{namespace}})
		}},
		{"the record is removed", func() error { return conn.RemoveRecords(t.Context(), pool, namespace, object, []string{"run"}) }},
	} {
		if err := step.do(); err != nil {
			t.Errorf("%s: %v", step.does, err)
		}
	}
	left, err := conn.Images(t.Context(), poolNamed(t, conn, pool), "")
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// showsThatItLives: a full pool does not hide the cluster from a teardown.
func showsThatItLives(t *testing.T, operator *Conn, pool string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	object := ceph.PresenceObject("infra", "rbd")
	for _, answer := range []string{"first", "renewed, and longer than before"} {
		watch, err := operator.Watch(ctx, pool, object, []byte(answer), true)
		if err != nil {
			t.Errorf("an operator shows that it runs, %s: %v", answer, err)
			return
		}
		defer watch.End()
	}
	if found, err := operator.Watchers(ctx, pool, object); err != nil || len(found) != 2 {
		t.Errorf("who watches: %v, %v", found, err)
	}
	if err := operator.RemoveWatched(ctx, pool, object); err != nil {
		t.Errorf("an operator leaves the pool: %v", err)
	}
}

func poolNamed(t *testing.T, conn *Conn, name string) ceph.Pool {
	t.Helper()
	all, err := conn.Pools(t.Context())
	check(t, err)
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no pool %q", name)
	return ceph.Pool{}
}

func onlyImage(t *testing.T, conn *Conn, pool string) ceph.RBDImage {
	t.Helper()
	images, err := conn.Images(t.Context(), poolNamed(t, conn, pool), "")
	check(t, err)
	if len(images) != 1 {
		t.Fatalf("images: %v", images)
	}
	return images[0]
}
