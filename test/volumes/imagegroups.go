package volumes

import (
	"fmt"
	"time"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

// ImageGroup is a volume group of ceph-csi's add-ons: an rbd group and its journal entries, which
// name no cluster. A group's snapshot is the same without the rbd group.
type ImageGroup struct {
	cluster *Cluster
	request request
	Place   Place
	Name    string
	Created time.Time
	// Members are handles, of volumes or of snapshots with their names.
	Members map[string]string
}

// UUID is what its journal entries are found by.
func (g *ImageGroup) UUID() string { return g.request.uuid }

// groupTime is fixed, so that layouts can be compared.
var groupTime = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// UnfinishedImageGroup writes the journal only, as ceph-csi 3.12 does, which panics before it makes
// the rbd group.
func (c *Cluster) UnfinishedImageGroup(p Place, name string) (*ImageGroup, error) {
	id := c.uuid("group", name)
	c.note(id)
	g := &ImageGroup{cluster: c, Place: p, Name: groupNamePrefix + id}
	g.request = request{uuid: id, instance: c.Instance, name: "groupsnapshot-" + c.uuid("grouprequest", name)}
	ioctx, err := c.ceph.at(p)
	if err != nil {
		return nil, err
	}
	more := map[string]string{createdKey: groupTime.Format(time.RFC3339Nano)}
	return g, groupJournal.reserve(ioctx, g.request, g.Name, more)
}

// ImageGroup also makes the rbd group of volumes in one place.
func (c *Cluster) ImageGroup(name string, members ...*Image) (*ImageGroup, error) {
	place := members[0].Class.Place
	g, err := c.UnfinishedImageGroup(place, name)
	if err != nil {
		return nil, err
	}
	ioctx, err := c.ceph.at(place)
	if err != nil {
		return nil, err
	}
	if err := g.gather(ioctx, members); err != nil {
		return nil, err
	}
	directory, err := ioctx.GetOmapValues("rbd_group_directory", "", "name_"+g.Name, 1)
	if err != nil {
		return nil, fmt.Errorf("the ID of group %s: %w", g.Name, err)
	}
	for _, id := range directory {
		c.note(string(id[4:])) // after its length
	}
	return g, nil
}

func (g *ImageGroup) gather(ioctx *rados.IOContext, members []*Image) error {
	if err := rbd.GroupCreate(ioctx, g.Name); err != nil {
		return fmt.Errorf("creating group %s: %w", g.Name, err)
	}
	for _, i := range members {
		if err := rbd.GroupImageAdd(ioctx, g.Name, ioctx, i.Name); err != nil {
			return fmt.Errorf("adding %s to group %s: %w", i.Name, g.Name, err)
		}
	}
	return nil
}

// SnapshotGroup is a snapshot of several volumes, made of one of each: the rbd group is gone again.
func (c *Cluster) SnapshotGroup(name string, snapshots ...*ImageSnapshot) error {
	g, err := c.UnfinishedImageGroup(snapshots[0].Source.Class.Place, name)
	if err != nil {
		return err
	}
	ioctx, err := c.ceph.at(g.Place)
	if err != nil {
		return err
	}
	members := map[string]string{}
	for _, s := range snapshots {
		members[s.Handle()] = s.Name
		if err := snapshotJournal.set(ioctx, s.request.uuid, map[string]string{groupKey: g.Handle()}); err != nil {
			return err
		}
	}
	return g.Note(members)
}

// Snapshot takes a snapshot of all members at once.
func (g *ImageGroup) Snapshot(name string) error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	if err := rbd.GroupSnapCreate(ioctx, g.Name, name); err != nil {
		return fmt.Errorf("snapshot of group %s: %w", g.Name, err)
	}
	return nil
}
