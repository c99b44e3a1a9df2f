package images

import (
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown/teardowntest"
)

// cluster lays images out as ceph-csi does for one cluster; several share a fakeRBD.
type cluster struct {
	*fakeRBD
	id        string
	namespace string
}

var lastID int

// image is a plain one, without tags or journal.
func (c cluster) image(name string) *ceph.RBDImage {
	lastID++
	i := &ceph.RBDImage{ImageRef: ceph.ImageRef{PoolID: 1, Namespace: c.namespace, ID: fmt.Sprintf("%x", 0x1000+lastID)},
		Pool: "rbd", Name: name, Listed: true, Header: true, Size: 1 << 30, Order: 22, Features: 1, Metadata: map[string]string{}}
	c.images[i.ImageRef] = i
	return i
}

func (c cluster) write(namespace, object string, values map[string]string) {
	at := [3]string{"rbd", namespace, object}
	if c.journals[at] == nil {
		c.journals[at] = map[string]string{}
	}
	for key, value := range values {
		c.journals[at][key] = value
	}
}

func (c cluster) tagVolume(i *ceph.RBDImage, request string) {
	i.Metadata = map[string]string{ceph.TagCluster: c.id, ceph.TagPV: request, ceph.TagPVC: "data", ceph.TagPVCNamespace: "shop"}
}

func (c cluster) tagSnapshot(i *ceph.RBDImage, request string) {
	i.Metadata = map[string]string{ceph.TagCluster: c.id, ceph.TagSnapshot: "s", ceph.TagSnapshotNamespace: "shop", ceph.TagSnapshotContent: request}
}

func (c cluster) journalVolume(i *ceph.RBDImage, uuid string) {
	c.write(c.namespace, "csi.volumes.default", map[string]string{"csi.volume.pvc-" + uuid: uuid})
	c.write(c.namespace, "csi.volume."+uuid, map[string]string{"csi.imagename": i.Name, "csi.volname": "pvc-" + uuid, "csi.volume.owner": "shop", "csi.imageid": i.ID})
}

// volume is a complete one.
func (c cluster) volume() *ceph.RBDImage {
	uuid := teardowntest.UUID()
	i := c.image("csi-vol-" + uuid)
	c.tagVolume(i, "pvc-"+uuid)
	c.journalVolume(i, uuid)
	return i
}

// cloneOf makes child a clone of a snapshot of parent.
func (c cluster) cloneOf(parent, child *ceph.RBDImage, kind ceph.SnapshotKind, name string) {
	id := uint64(len(parent.Snapshots) + 1)
	for n := range parent.Snapshots {
		if s := &parent.Snapshots[n]; s.Name == name {
			s.Children = append(s.Children, child.ImageRef)
			child.Parent = &ceph.ImageParent{ImageRef: parent.ImageRef, SnapID: s.ID}
			return
		}
	}
	parent.Snapshots = append(parent.Snapshots, ceph.ImageSnapshot{ID: id, Name: name, Kind: kind, Children: []ceph.ImageRef{child.ImageRef}})
	child.Parent = &ceph.ImageParent{ImageRef: parent.ImageRef, SnapID: id}
}

// snapshot is a complete VolumeSnapshot of a volume.
func (c cluster) snapshot(of *ceph.RBDImage) *ceph.RBDImage {
	uuid := teardowntest.UUID()
	i := c.image("csi-snap-" + uuid)
	c.tagSnapshot(i, "snapcontent-"+uuid)
	c.write(c.namespace, "csi.snaps.default", map[string]string{"csi.snap.snapshot-" + uuid: uuid})
	c.write(c.namespace, "csi.snap."+uuid, map[string]string{"csi.imagename": i.Name, "csi.snapname": "snapshot-" + uuid, "csi.source": of.Name, "csi.volume.owner": "shop", "csi.imageid": i.ID})
	c.cloneOf(of, i, ceph.TrashSnapshot, "random-"+uuid)
	i.Snapshots = append(i.Snapshots, ceph.ImageSnapshot{ID: 1, Name: i.Name, Kind: ceph.UserSnapshot})
	return i
}

// restore is a volume made from a snapshot.
func (c cluster) restore(from *ceph.RBDImage) *ceph.RBDImage {
	i := c.volume()
	c.cloneOf(from, i, ceph.UserSnapshot, from.Name)
	return i
}

// clone is a volume made from a volume, with the temporary image between them.
func (c cluster) clone(of *ceph.RBDImage) (volume, temporary *ceph.RBDImage) {
	volume = c.volume()
	temporary = c.image(volume.Name + "-temp")
	c.cloneOf(of, temporary, ceph.TrashSnapshot, "random-"+temporary.Name)
	c.cloneOf(temporary, volume, ceph.TrashSnapshot, "random-"+volume.Name)
	return volume, temporary
}

// deleted moves an image to the trash as ceph-csi does, journal first gone.
func (c cluster) deleted(i *ceph.RBDImage) *ceph.RBDImage {
	i.Listed, i.Trash = false, &ceph.TrashEntry{Name: i.Name}
	c.dropJournal(i)
	for n := range i.Snapshots {
		i.Snapshots[n].Kind = ceph.TrashSnapshot
	}
	return i
}

func (c cluster) dropJournal(i *ceph.RBDImage) {
	name, _ := ceph.ParseCSIName(i.Name)
	for at, omap := range c.journals {
		if at[2] == "csi.volume."+name.UUID || at[2] == "csi.snap."+name.UUID {
			delete(c.journals, at)
		}
		for key, value := range omap {
			if value == name.UUID {
				delete(omap, key)
			}
		}
	}
}

// group puts images into a group with a snapshot, as csi-addons would.
func (c cluster) group(members ...*ceph.RBDImage) *ceph.RBDGroup {
	uuid := teardowntest.UUID()
	g := &ceph.RBDGroup{GroupRef: ceph.GroupRef{PoolID: 1, ID: "group" + uuid}, Pool: "rbd", Namespace: c.namespace, Name: "csi-vol-group-" + uuid, Snapshots: []string{"gs"}}
	c.groups[g.GroupRef] = g
	c.write(c.namespace, "csi.groups.default", map[string]string{"csi.volume.group.g-" + uuid: uuid})
	c.write(c.namespace, "csi.volume.group."+uuid, map[string]string{"csi.groupname": g.Name, "csi.volname": "g-" + uuid})
	for _, m := range members {
		m.Group = &g.GroupRef
		m.Snapshots = append(m.Snapshots, ceph.ImageSnapshot{ID: 900, Name: ".group.1_x_y", Kind: ceph.GroupSnapshot})
	}
	return g
}
