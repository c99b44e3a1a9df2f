package volumes

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ceph/go-ceph/rbd"
)

const (
	groupKey        = "csi.groupid"
	groupNamePrefix = "csi-vol-group-"
)

// AskedGroup is what the journal has for the request's group, or gets now.
func (c *Cluster) AskedGroup(p Place) (*ImageGroup, error) {
	uuid, err := c.ReservedGroup(p)
	if err != nil {
		return nil, err
	}
	if uuid != "" {
		return c.FindGroup(p, uuid)
	}
	ioctx, err := c.ceph.at(p)
	if err != nil {
		return nil, err
	}
	g := &ImageGroup{cluster: c, request: *c.asked, Place: p, Name: groupNamePrefix + c.asked.uuid, Created: time.Now()}
	return g, groupJournal.reserve(ioctx, g.request, g.Name, map[string]string{createdKey: g.Created.Format(time.RFC3339Nano)})
}

// ReservedGroup is the uuid of the group of an earlier request; empty where the journal has none.
func (c *Cluster) ReservedGroup(p Place) (string, error) { return c.reserved(groupJournal, p) }

// FindGroup is the group with that uuid; without a name where the journal has none.
func (c *Cluster) FindGroup(p Place, uuid string) (*ImageGroup, error) {
	r, entry, err := c.found(groupJournal, p, uuid)
	if err != nil {
		return nil, err
	}
	g := &ImageGroup{cluster: c, request: r, Place: p, Name: entry[groupJournal.nameKey], Members: entry}
	if g.Name != "" {
		if g.Created, err = time.Parse(time.RFC3339Nano, entry[createdKey]); err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(entry, func(key, _ string) bool {
		return slices.Contains([]string{groupJournal.nameKey, groupJournal.requestKey, createdKey}, key)
	})
	return g, nil
}

// Handle is that of the group.
func (g *ImageGroup) Handle() string { return g.cluster.imageHandle(g.Place, g.request.uuid) }

// Gather makes the rbd group and adds images to it.
func (g *ImageGroup) Gather(members []*Image) error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	if err := g.gather(ioctx, members); err != nil {
		return err
	}
	handles := map[string]string{}
	for _, i := range members {
		handles[i.Handle()] = ""
	}
	return g.Note(handles)
}

// Note adds members to the journal.
func (g *ImageGroup) Note(members map[string]string) error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	if g.Members == nil {
		g.Members = map[string]string{}
	}
	maps.Copy(g.Members, members)
	return groupJournal.set(ioctx, g.request.uuid, members)
}

// RemoveSnapshot undoes Snapshot; what was cloned of it stays.
func (g *ImageGroup) RemoveSnapshot(name string) error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	return rbd.GroupSnapRemove(ioctx, g.Name, name)
}

// Dissolve takes the images out of the rbd group, as far as it came, and removes it.
func (g *ImageGroup) Dissolve(members []*Image) error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	for _, i := range members {
		if err := rbd.GroupImageRemove(ioctx, g.Name, ioctx, i.Name); err != nil && !IsMissing(err) {
			return fmt.Errorf("taking %s out of group %s: %w", i.Name, g.Name, err)
		}
	}
	if err := rbd.GroupRemove(ioctx, g.Name); err != nil && !IsMissing(err) {
		return fmt.Errorf("removing group %s: %w", g.Name, err)
	}
	return g.Unreserve()
}

// Unreserve takes the group out of the journal.
func (g *ImageGroup) Unreserve() error {
	ioctx, err := g.cluster.ceph.at(g.Place)
	if err != nil {
		return err
	}
	return groupJournal.release(ioctx, g.request)
}

// GroupedSnapshot is one of a group's: it has the tags of its volume, and names the group.
func (c *Cluster) GroupedSnapshot(source *Image, group *ImageGroup) (*ImageSnapshot, error) {
	s, ioctx, err := c.take(source, "")
	if err != nil {
		return s, err
	}
	s.Group = group.Handle()
	return s, snapshotJournal.set(ioctx, s.request.uuid, map[string]string{groupKey: s.Group})
}
