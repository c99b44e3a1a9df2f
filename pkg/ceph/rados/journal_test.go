//go:build cgo

package rados

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ceph/go-ceph/rados"
	"golang.org/x/sync/errgroup"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

const (
	metadataPool = cephdaemons.Filesystem + "-metadata"
	uuidA        = "0a1b2c3d-0000-4000-8000-00000000000a"
	uuidB        = "0a1b2c3d-0000-4000-8000-00000000000b"
)

// put lays out an object as ceph-csi does.
func (f files) put(t *testing.T, namespace, object string, omap map[string][]byte, change func(*rados.IOContext) error) {
	t.Helper()
	_, err := in(t.Context(), f.conn, metadataPool, "", func(io *rados.IOContext) (struct{}, error) {
		io.SetNamespace(namespace)
		err := io.SetOmap(object, omap)
		if err == nil && change != nil {
			err = change(io)
		}
		return struct{}{}, err
	})
	check(t, err)
}

func testJournals(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	const directory, key, other = "csi.volumes.default", "csi.volume.pvc-1", "csi.volume.pvc-1-other"
	f.put(t, "csi", directory, map[string][]byte{key: []byte(uuidA), other: []byte(uuidB)}, nil)
	f.put(t, "csi", "csi.volume."+uuidA, map[string][]byte{"csi.imagename": []byte("csi-vol-" + uuidA), "csi.volname": []byte("pvc-1")}, nil)
	f.put(t, "elsewhere", "csi.volume."+uuidA, map[string][]byte{"csi.volume.owner": []byte("shop")}, nil)
	f.put(t, "stranger", "csi.volume."+uuidA, map[string][]byte{"csi.volume.owner": []byte("stranger")}, nil)
	pieces, err := f.conn.Journals(t.Context(), metadataPool, "csi", "elsewhere", "empty")
	check(t, err)
	everywhere, err := f.conn.Journals(t.Context(), metadataPool)
	check(t, err)
	if len(pieces) != 3 || len(everywhere) != 4 {
		t.Errorf("%d objects in two namespaces, %d in all", len(pieces), len(everywhere))
	}
	journals := ceph.JoinJournals(pieces)
	expect(t, "journals", []ceph.Journal{
		{
			Kind: ceph.JournalVolume, UUID: uuidA, Request: "pvc-1", Image: "csi-vol-" + uuidA, Owner: "shop",
			Namespaces: []string{"csi", "elsewhere"}, Keys: []ceph.JournalKey{{Namespace: "csi", Directory: directory, Key: key}},
		},
		{
			Kind: ceph.JournalVolume, UUID: uuidB, Request: "pvc-1-other",
			Keys: []ceph.JournalKey{{Namespace: "csi", Directory: directory, Key: other}},
		},
	}, journals, nil)
	taken := journals[1]
	taken.UUID = uuidA
	check(t, f.conn.RemoveJournal(t.Context(), metadataPool, taken))
	for range 2 {
		check(t, f.conn.RemoveJournal(t.Context(), metadataPool, journals[0]))
	}
	pieces, err = f.conn.Journals(t.Context(), metadataPool, "csi", "elsewhere")
	expect(t, "a key that leads to another UUID stays, and the directory",
		[]ceph.JournalPiece{{Namespace: "csi", Object: directory, Omap: map[string]string{other: uuidB}}}, pieces, err)
	check(t, f.conn.RemoveJournal(t.Context(), metadataPool, journals[1]))
	check(t, f.conn.RemoveJournal(t.Context(), metadataPool, ceph.Journal{Kind: ceph.JournalVolume, UUID: uuidA, Namespaces: []string{"stranger"}}))
}

func testReferences(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	const handle = "0001-0024-5c0e8e4a-0000-4000-8000-000000000000-0000000000000001-" + uuidA
	ctx := t.Context()
	f.put(t, "csi", referencesOf(handle), map[string][]byte{handle: {2}, "csi-vol-a": {1}, "csi-vol-b": {1}}, func(io *rados.IOContext) error {
		return errors.Join(io.WriteFull(referencesOf(handle), ceph.EncodeRefCount(2)), io.SetXattr(referencesOf(handle), ceph.RefTrackerVersionKey, []byte{0, 0, 0, 1}))
	})
	check(t, f.conn.DropReferences(ctx, metadataPool, "csi", handle, []string{"csi-vol-c"}, true))
	for range 2 {
		check(t, f.conn.DropReferences(ctx, metadataPool, "csi", handle, []string{"csi-vol-a"}, true))
		got, err := f.conn.References(ctx, metadataPool, "csi", handle)
		expect(t, "another volume is left", ceph.RefTracker{Count: 1, Masked: map[string]bool{handle: true, "csi-vol-b": false}}, got, err)
	}
	check(t, f.conn.DropReferences(ctx, metadataPool, "csi", handle, []string{"csi-vol-b"}, false))
	got, err := f.conn.References(ctx, metadataPool, "csi", handle)
	expect(t, "the snapshot stays", ceph.RefTracker{Masked: map[string]bool{handle: true}}, got, err)
	for range 2 {
		check(t, f.conn.DropReferences(ctx, metadataPool, "csi", handle, nil, true))
		if _, err := f.conn.References(ctx, metadataPool, "csi", handle); !errors.Is(err, ceph.ErrNotFound) {
			t.Errorf("the snapshot goes: %v", err)
		}
	}
}

// testRecord: what one run wrote down, no other one changes.
func testRecord(t *testing.T, c *cephdaemons.Ceph) {
	f := newFiles(t, c)
	ctx := t.Context()
	records := func(what string, want map[string]string) {
		t.Helper()
		found, err := f.conn.Records(ctx, metadataPool, "ns", "plan")
		got := map[string]string{}
		for run, content := range found {
			got[run] = string(content)
		}
		expect(t, what, want, got, err)
	}
	records("none", map[string]string{})
	for run, content := range map[string]string{"a": "a long plan", "b": "short"} {
		check(t, f.conn.AppendRecord(ctx, metadataPool, "ns", "plan", run, []byte(content)))
		if err := f.conn.AppendRecord(ctx, metadataPool, "ns", "plan", run, []byte("other")); err == nil {
			t.Errorf("run %s was overwritten", run)
		}
	}
	records("two runs", map[string]string{"a": "a long plan", "b": "short"})
	for range 2 {
		check(t, f.conn.RemoveRecords(ctx, metadataPool, "ns", "plan", []string{"a"}))
	}
	records("one run", map[string]string{"b": "short"})
	if _, err := c.RADOS(ctx, "-p", metadataPool, "-N", "ns", "setomapval", "plan", "c", ""); err != nil {
		t.Fatal(err)
	}
	records("one that was killed before it wrote", map[string]string{"b": "short", "c": ""})
	check(t, f.conn.RemoveRecords(ctx, metadataPool, "ns", "plan", []string{"c"}))
	check(t, f.conn.RemoveRecords(ctx, metadataPool, "ns", "plan", []string{"b"}))
	if _, err := c.RADOS(ctx, "-p", metadataPool, "-N", "ns", "create", "plan"); err != nil {
		t.Fatal(err)
	}
	records("one of which somebody was killed who removed the last run", map[string]string{"": ""})
	check(t, f.conn.RemoveRecords(ctx, metadataPool, "ns", "plan", []string{""}))
	records("removed with that", map[string]string{})
	check(t, f.conn.AppendRecord(ctx, metadataPool, "ns", "plan", "b", []byte("short")))
	input := filepath.Join(t.TempDir(), "plan")
	check(t, os.WriteFile(input, []byte("older"), 0o600))
	if _, err := c.RADOS(ctx, "-p", metadataPool, "-N", "ns", "put", "plan", input); err != nil {
		t.Fatal(err)
	}
	records("one of a version without runs", map[string]string{"": "older", "b": "short"})
	check(t, f.conn.RemoveRecords(ctx, metadataPool, "ns", "plan", []string{"", "b"}))
	records("removed", map[string]string{})
	left, err := c.RADOS(ctx, "-p", metadataPool, "-N", "ns", "ls")
	expect(t, "objects", "", string(left), err)
}

// testRecordsTogether: runs that come and go at the same time lose nothing to one another.
func testRecordsTogether(t *testing.T, c *cephdaemons.Ceph) {
	const rounds = 100
	f := newFiles(t, c)
	var all errgroup.Group
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() error {
			for i := range rounds {
				run := fmt.Sprintf("%s-%d", name, i)
				if err := f.conn.AppendRecord(t.Context(), metadataPool, "ns", "together", run, []byte("plan")); err != nil {
					return err
				}
				found, err := f.conn.Records(t.Context(), metadataPool, "ns", "together")
				if err != nil {
					return err
				}
				if string(found[run]) != "plan" {
					return fmt.Errorf("round %d: the record of run %s is lost", i, run)
				}
				if err := f.conn.RemoveRecords(t.Context(), metadataPool, "ns", "together", []string{run}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	check(t, all.Wait())
	left, err := c.RADOS(t.Context(), "-p", metadataPool, "-N", "ns", "ls")
	expect(t, "objects", "", string(left), err)
}
