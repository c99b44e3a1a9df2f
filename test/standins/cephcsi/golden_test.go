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
	t.Run("Images", func(t *testing.T) { goldenImages(t, l) })
	t.Run("Subvolumes", func(t *testing.T) { goldenSubvolumes(t, l) })
}

func goldenImages(t *testing.T, l *lab) {
	check(t, l.CreatePool(t.Context(), "golden", "rbd"))
	user := l.user(t, "golden", "mon", "profile rbd", "mgr", "profile rbd pool=golden", "osd", "profile rbd pool=golden")
	rbd := life{
		driver: "rbd", parameters: map[string]string{"clusterID": l.FSID(), "pool": "golden", "imageFeatures": "layering"},
		controller: user, capability: filesystem("xfs", oneNode),
	}
	made := rbd.family(t, l)
	if diff := cmp.Diff(lines(goldenLeft), l.left(t, made.names())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, volume := range []*csi.Volume{made.copied, made.restored} {
		rbd.remove(t, l, volume)
	}
	rbd.removeSnapshot(t, l, made.snapshot)
	rbd.remove(t, l, made.web)
	if got := l.left(t, made.names()); len(got) > 0 {
		t.Errorf("left after all was deleted: %q", got)
	}
}

// family is a volume, and what was made of it.
type family struct {
	web, restored, copied *csi.Volume
	snapshot              *csi.Snapshot
}

func (f life) family(t *testing.T, l *lab) family {
	t.Helper()
	out := family{web: f.create(t, l, "web")}
	out.snapshot = f.snapshot(t, l, out.web, "snap")
	out.restored = f.createFrom(t, l, "restored", &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: out.snapshot.GetSnapshotId()},
	}})
	out.copied = f.createFrom(t, l, "copy", &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
		Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: out.web.GetVolumeId()},
	}})
	return out
}

// names are those that golden lines have in the place of uuids, by handles.
func (f family) names() map[string]string {
	return map[string]string{
		f.web.GetVolumeId(): "web", f.snapshot.GetSnapshotId(): "snap", f.restored.GetVolumeId(): "restored", f.copied.GetVolumeId(): "copy",
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
	csi-vol-<copy> csi.ceph.com/mounter = rbd
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
	csi-vol-<restored> csi.ceph.com/mounter = rbd
	csi-vol-<restored> csi.storage.k8s.io/pv/name = pvc-restored
	csi-vol-<restored> csi.storage.k8s.io/pvc/name = restored
	csi-vol-<restored> csi.storage.k8s.io/pvc/namespace = shop
	csi-vol-<web> csi.ceph.com/cluster/name = infra-a
	csi-vol-<web> csi.ceph.com/mounter = rbd
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

// dump reads pools and filesystems with another program's eyes.
func (l *lab) dump(t *testing.T, pools []string, filesystems ...string) volumes.Dump {
	t.Helper()
	admin, err := volumes.Open(l.ConfFile(), l.KeyringFile())
	check(t, err)
	defer admin.Close()
	dump, err := admin.Dump(pools, filesystems...)
	for end := time.Now().Add(time.Minute); volumes.IsMissing(err) && time.Now().Before(end); {
		dump, err = admin.Dump(pools, filesystems...) // The mgr removes what was deleted meanwhile.
	}
	check(t, err)
	return dump
}

// left are the lines of the pool.
func (l *lab) left(t *testing.T, handles map[string]string) []string {
	t.Helper()
	dump := l.dump(t, []string{"golden"})
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
		out = append(out, object+" "+key+" = "+value)
	}
	return byNames(out, handles)
}

// byNames has names in the place of uuids.
func byNames(all []string, handles map[string]string) []string {
	var out []string
	for _, line := range all {
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

func (f life) removeSnapshot(t *testing.T, l *lab, snapshot *csi.Snapshot) {
	t.Helper()
	_, err := l.drivers[f.driver+"-controller"].DeleteSnapshot(t.Context(), &csi.DeleteSnapshotRequest{SnapshotId: snapshot.GetSnapshotId(), Secrets: f.controller})
	check(t, err)
}
