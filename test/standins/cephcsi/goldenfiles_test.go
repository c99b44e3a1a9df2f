package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// goldenSubvolumes also deletes the volume before its snapshot, which outlives it.
func goldenSubvolumes(t *testing.T, l *lab) {
	cephfs := l.cephfs(t)
	made := cephfs.family(t, l)
	expect := func(of, want string) {
		t.Helper()
		if diff := cmp.Diff(lines(want), l.leftInFiles(t, made.names())); diff != "" {
			t.Errorf("%s: -want +got:\n%s", of, diff)
		}
	}
	expect("all", goldenFiles)
	for _, volume := range []*csi.Volume{made.copied, made.restored, made.web} {
		cephfs.remove(t, l, volume)
	}
	expect("the snapshot alone", goldenRetained)
	cephfs.removeSnapshot(t, l, made.snapshot)
	if got := l.leftInFiles(t, made.names()); len(got) > 0 {
		t.Errorf("left after all was deleted: %q", got)
	}
}

// goldenFiles are lines of an object, a key and its value, then of a subvolume or a snapshot of one,
// a field or a tag, and its value. Copies are whole: nothing of the source's tags is at them.
const goldenFiles = `
	csi.snap.<snap> "" = shop
	csi.snap.<snap> csi.imagename = csi-snap-<snap>
	csi.snap.<snap> csi.snapname = snapshot-snap
	csi.snap.<snap> csi.source = csi-vol-<web>
	csi.snaps.default csi.snap.snapshot-snap = <snap>
	csi.volume.<copy> csi.imagename = csi-vol-<copy>
	csi.volume.<copy> csi.volname = pvc-copy
	csi.volume.<copy> csi.volume.owner = shop
	csi.volume.<restored> csi.imagename = csi-vol-<restored>
	csi.volume.<restored> csi.volname = pvc-restored
	csi.volume.<restored> csi.volume.owner = shop
	csi.volume.<web> csi.imagename = csi-vol-<web>
	csi.volume.<web> csi.volname = pvc-web
	csi.volume.<web> csi.volume.owner = shop
	csi.volumes.default csi.volume.pvc-copy = <copy>
	csi.volumes.default csi.volume.pvc-restored = <restored>
	csi.volumes.default csi.volume.pvc-web = <web>
	csi/csi-vol-<copy> bytes_quota = 1073741824
	csi/csi-vol-<copy> csi.ceph.com/cluster/name = infra-a
	csi/csi-vol-<copy> csi.storage.k8s.io/pv/name = pvc-copy
	csi/csi-vol-<copy> csi.storage.k8s.io/pvc/name = copy
	csi/csi-vol-<copy> csi.storage.k8s.io/pvc/namespace = shop
	csi/csi-vol-<copy> features = ["snapshot-clone","snapshot-autoprotect","snapshot-retention"]
	csi/csi-vol-<copy> state = complete
	csi/csi-vol-<copy> type = clone
	csi/csi-vol-<restored> bytes_quota = 1073741824
	csi/csi-vol-<restored> csi.ceph.com/cluster/name = infra-a
	csi/csi-vol-<restored> csi.storage.k8s.io/pv/name = pvc-restored
	csi/csi-vol-<restored> csi.storage.k8s.io/pvc/name = restored
	csi/csi-vol-<restored> csi.storage.k8s.io/pvc/namespace = shop
	csi/csi-vol-<restored> features = ["snapshot-clone","snapshot-autoprotect","snapshot-retention"]
	csi/csi-vol-<restored> state = complete
	csi/csi-vol-<restored> type = clone
	csi/csi-vol-<web> bytes_quota = 1073741824
	csi/csi-vol-<web> csi.ceph.com/cluster/name = infra-a
	csi/csi-vol-<web> csi.storage.k8s.io/pv/name = pvc-web
	csi/csi-vol-<web> csi.storage.k8s.io/pvc/name = web
	csi/csi-vol-<web> csi.storage.k8s.io/pvc/namespace = shop
	csi/csi-vol-<web> features = ["snapshot-clone","snapshot-autoprotect","snapshot-retention"]
	csi/csi-vol-<web> state = complete
	csi/csi-vol-<web> type = subvolume
	csi/csi-vol-<web>@csi-snap-<snap> csi.ceph.com/cluster/name = infra-a
	csi/csi-vol-<web>@csi-snap-<snap> csi.storage.k8s.io/volumesnapshot/name = snap
	csi/csi-vol-<web>@csi-snap-<snap> csi.storage.k8s.io/volumesnapshot/namespace = shop
	csi/csi-vol-<web>@csi-snap-<snap> csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-snap
	csi/csi-vol-<web>@csi-snap-<snap> has_pending_clones = no`

// goldenRetained is what the deleted volume's snapshot keeps; Ceph tells no tags of it.
const goldenRetained = `
	csi.snap.<snap> "" = shop
	csi.snap.<snap> csi.imagename = csi-snap-<snap>
	csi.snap.<snap> csi.snapname = snapshot-snap
	csi.snap.<snap> csi.source = csi-vol-<web>
	csi.snaps.default csi.snap.snapshot-snap = <snap>
	csi/csi-vol-<web> features = ["snapshot-clone","snapshot-autoprotect","snapshot-retention"]
	csi/csi-vol-<web> state = snapshot-retained
	csi/csi-vol-<web> type = subvolume
	csi/csi-vol-<web>@csi-snap-<snap> has_pending_clones = no`

// told are the fields that the mgr does not take from its clock, its paths or its pools.
var told = []string{"type", "state", "features", "bytes_quota", "has_pending_clones"}

// leftInFiles are the lines of the filesystem: of its journal every key, and data or an attribute of its
// objects, if there is any.
func (l *lab) leftInFiles(t *testing.T, handles map[string]string) []string {
	t.Helper()
	var out []string
	for name, value := range l.dump(t, nil, cephdaemons.Filesystem) {
		if object, inJournal := strings.CutPrefix(name, metadataPool+"/csi/"); inJournal {
			object, key, isKey := strings.Cut(object, " omap ")
			if key == "" {
				key = `""`
			}
			if isKey || value != "" {
				out = append(out, object+" "+key+" = "+value)
			}
		}
		title, isTold := strings.CutPrefix(name, cephdaemons.Filesystem+" subvolume ")
		var fields map[string]json.RawMessage
		if !isTold || json.Unmarshal([]byte(value), &fields) != nil {
			continue // a file, or a refusal
		}
		subvolume, command, _ := strings.Cut(title, " ")
		for field, value := range fields {
			if strings.HasSuffix(command, "metadata ls") || slices.Contains(told, field) {
				out = append(out, subvolume+" "+field+" = "+strings.Trim(string(value), `"`))
			}
		}
	}
	return byNames(out, handles)
}
