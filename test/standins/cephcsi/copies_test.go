package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// testCopies reads what was written before a snapshot in each kind of volume that is made of one.
func testCopies(t *testing.T, l *lab) {
	rbdUser := l.user(t, "rbd", caps["rbd"]...)
	rbd := life{
		driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "rbd", "imageFeatures": "layering"},
		controller: rbdUser, node: rbdUser, capability: filesystem("ext4", oneNode),
	}
	for name, f := range map[string]life{"Images": rbd, "Subvolumes": l.cephfs(t)} {
		t.Run(name, func(t *testing.T) { f.copies(t, l, name) })
	}
}

func (f life) copies(t *testing.T, l *lab, name string) {
	source := f.create(t, l, name)
	dirs := func(of string) (string, string) {
		return filepath.Join(l.dir, "staging", name+of), filepath.Join(l.dir, "pods", name+of)
	}
	staging, target := dirs("")
	f.publish(t, l, source, staging, target)
	check(t, os.WriteFile(filepath.Join(target, "greeting"), []byte("hello"), 0o600))
	f.unpublish(t, l, source, staging, target)
	snapshot := f.snapshot(t, l, source, name)
	ofSnapshot := &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: snapshot.GetSnapshotId()}}}
	ofVolume := &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: source.GetVolumeId()}}}
	reader := f
	reader.capability = filesystem(f.capability.GetMount().GetFsType(), readers)
	for kind, row := range map[string]struct {
		life life
		from *csi.VolumeContentSource
	}{"restored": {f, ofSnapshot}, "copy": {f, ofVolume}, "shown": {reader, ofSnapshot}} {
		volume := row.life.createFrom(t, l, name+kind, row.from)
		staging, target := dirs(kind)
		row.life.publish(t, l, volume, staging, target)
		if content := head(t, filepath.Join(target, "greeting")); content != "hello" {
			t.Errorf("%s: read %q", kind, content)
		}
		if err := os.WriteFile(filepath.Join(target, "more"), nil, 0o600); (err == nil) == (kind == "shown") {
			t.Errorf("%s: writing: %v", kind, err)
		}
		row.life.unpublish(t, l, volume, staging, target)
		row.life.remove(t, l, volume)
	}
	f.removeSnapshot(t, l, snapshot)
	f.remove(t, l, source)
}
