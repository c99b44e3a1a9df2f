package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// testGolden compares journals and tags with what ceph-csi leaves of a volume, its snapshot, a
// volume restored from that and a clone.
func testGolden(t *testing.T, l *lab) {
	check(t, l.CreatePool(t.Context(), "golden", "rbd"))
	user := l.user(t, "golden", "mon", "profile rbd", "mgr", "profile rbd pool=golden", "osd", "profile rbd pool=golden")
	rbd := life{
		driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "golden", "imageFeatures": "layering"},
		controller: user, capability: filesystem("xfs", oneNode),
	}
	web := rbd.create(t, l, "web")
	snapshot := rbd.snapshot(t, l, web, "snap")
	restored := rbd.createFrom(t, l, "restored", &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: snapshot.GetSnapshotId()},
	}})
	copied := rbd.createFrom(t, l, "copy", &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
		Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: web.GetVolumeId()},
	}})
	names := map[string]string{web.GetVolumeId(): "web", snapshot.GetSnapshotId(): "snap", restored.GetVolumeId(): "restored", copied.GetVolumeId(): "copy"}
	got := l.left(t, names)
	if diff := cmp.Diff(lines(goldenLeft), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, volume := range []*csi.Volume{copied, restored} {
		rbd.remove(t, l, volume)
	}
	_, err := l.drivers["rbd-controller"].DeleteSnapshot(t.Context(), &csi.DeleteSnapshotRequest{SnapshotId: snapshot.GetSnapshotId(), Secrets: user})
	check(t, err)
	rbd.remove(t, l, web)
	if got := l.left(t, names); len(got) > 0 {
		t.Errorf("left after all was deleted: %q", got)
	}
}

// goldenLeft are lines of an object, a key and its value; tags stand at their image's name. The volume
// has tags of the snapshot because that was asked for twice, and its copies inherit them.
const goldenLeft = `
	csi.snap.<snap> csi.imagename = csi-snap-<snap>
	csi.snap.<snap> csi.snapname = snapshot-snap
	csi.snap.<snap> csi.source = csi-vol-<web>
	csi.snap.<snap> csi.volume.owner = shop
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
	csi-snap-<snap> csi.ceph.com/cluster/name = infra-a
	csi-snap-<snap> csi.storage.k8s.io/volumesnapshot/name = snap
	csi-snap-<snap> csi.storage.k8s.io/volumesnapshot/namespace = shop
	csi-snap-<snap> csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-snap
	csi-vol-<copy> csi.ceph.com/cluster/name = infra-a
	csi-vol-<copy> csi.storage.k8s.io/pv/name = pvc-copy
	csi-vol-<copy> csi.storage.k8s.io/pvc/name = copy
	csi-vol-<copy> csi.storage.k8s.io/pvc/namespace = shop
	csi-vol-<copy> csi.storage.k8s.io/volumesnapshot/name = snap
	csi-vol-<copy> csi.storage.k8s.io/volumesnapshot/namespace = shop
	csi-vol-<copy> csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-snap
	csi-vol-<copy>-temp csi.storage.k8s.io/volumesnapshot/name = snap
	csi-vol-<copy>-temp csi.storage.k8s.io/volumesnapshot/namespace = shop
	csi-vol-<copy>-temp csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-snap
	csi-vol-<restored> csi.ceph.com/cluster/name = infra-a
	csi-vol-<restored> csi.storage.k8s.io/pv/name = pvc-restored
	csi-vol-<restored> csi.storage.k8s.io/pvc/name = restored
	csi-vol-<restored> csi.storage.k8s.io/pvc/namespace = shop
	csi-vol-<web> csi.ceph.com/cluster/name = infra-a
	csi-vol-<web> csi.storage.k8s.io/pv/name = pvc-web
	csi-vol-<web> csi.storage.k8s.io/pvc/name = web
	csi-vol-<web> csi.storage.k8s.io/pvc/namespace = shop
	csi-vol-<web> csi.storage.k8s.io/volumesnapshot/name = snap
	csi-vol-<web> csi.storage.k8s.io/volumesnapshot/namespace = shop
	csi-vol-<web> csi.storage.k8s.io/volumesnapshotcontent/name = snapcontent-snap`

func lines(text string) []string {
	var out []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		out = append(out, strings.TrimSpace(line))
	}
	slices.Sort(out)
	return out
}

var omapKey = regexp.MustCompile(`^golden/(\S+) omap (.+)$`)

// left reads the pool with another program's eyes: test/volumes dumps what is there.
func (l *lab) left(t *testing.T, handles map[string]string) []string {
	t.Helper()
	admin, err := volumes.Open(l.ConfFile(), l.KeyringFile())
	check(t, err)
	defer admin.Close()
	dump, err := admin.Dump([]string{"golden"})
	for end := time.Now().Add(time.Minute); volumes.IsMissing(err) && time.Now().Before(end); {
		dump, err = admin.Dump([]string{"golden"}) // The mgr empties the trash meanwhile.
	}
	check(t, err)
	images := map[string]string{}
	for name, value := range dump {
		if match := omapKey.FindStringSubmatch(name); match != nil && match[1] == "rbd_directory" && strings.HasPrefix(match[2], "id_") {
			images["rbd_header."+strings.TrimPrefix(match[2], "id_")] = value
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(dump)) {
		match := omapKey.FindStringSubmatch(name)
		if match == nil || match[2] == "csi.imageid" {
			continue
		}
		object, key, value := match[1], match[2], dump[name]
		if tag, isTag := strings.CutPrefix(key, "metadata_"); isTag {
			image := images[object]
			at := strings.Index(image, "csi-")
			if at < 0 {
				continue // in the trash, which the mgr empties by and by
			}
			object, key = strings.TrimSuffix(image[at:], `"`), tag
		} else if !strings.HasPrefix(object, "csi.") {
			continue
		}
		line := object + " " + key + " = " + value
		for handle, name := range handles {
			line = strings.ReplaceAll(line, handle[len(handle)-36:], "<"+name+">")
		}
		out = append(out, strings.TrimSpace(line))
	}
	slices.Sort(out)
	return out
}

func (f life) snapshot(t *testing.T, l *lab, volume *csi.Volume, name string) *csi.Snapshot {
	t.Helper()
	var first *csi.Snapshot
	for range 2 {
		answer, err := l.drivers[f.driver+"-controller"].CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{
			Name: "snapshot-" + name, SourceVolumeId: volume.GetVolumeId(), Secrets: f.controller, Parameters: map[string]string{
				"clusterID": l.FSID(), "csi.storage.k8s.io/volumesnapshot/name": name, "csi.storage.k8s.io/volumesnapshot/namespace": "shop",
				"csi.storage.k8s.io/volumesnapshotcontent/name": "snapcontent-" + name,
			},
		})
		check(t, err)
		if first != nil && first.GetSnapshotId() != answer.GetSnapshot().GetSnapshotId() {
			t.Errorf("the same request made %s and %s", first.GetSnapshotId(), answer.GetSnapshot().GetSnapshotId())
		}
		first = answer.GetSnapshot()
	}
	return first
}
