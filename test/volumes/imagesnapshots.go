package volumes

import (
	"fmt"
	"maps"

	"github.com/ceph/go-ceph/rados"
	"github.com/ceph/go-ceph/rbd"
)

// ImageSnapshot is a snapshot of the RBD driver: an image of its own with one snapshot in it.
type ImageSnapshot struct {
	cluster *Cluster
	request request
	// Source is the volume.
	Source *Image
	// Snapshot is the VolumeSnapshot's name.
	Snapshot string
	// Name of the image and of the snapshot in it, and the image's ID.
	Name, ID string
	// Group is the handle of the group's snapshot that it is of, if any.
	Group string
}

// UUID is what its journal entries are found by.
func (s *ImageSnapshot) UUID() string { return s.request.uuid }

// Handle is that of the VolumeSnapshotContent.
func (s *ImageSnapshot) Handle() string {
	return s.cluster.imageHandle(s.Source.Class.Place, s.request.uuid)
}

// Tags are those that ceph-csi gives it.
func (s *ImageSnapshot) Tags() map[string]string { return maps.Clone(s.request.tags) }

// SetMetadata sets keys beside the tags, or instead of them; an empty value removes its key.
func (s *ImageSnapshot) SetMetadata(values map[string]string) error {
	ioctx, err := s.cluster.ceph.at(s.Source.Class.Place)
	if err != nil {
		return err
	}
	return setTags(ioctx, s.Name, values)
}

// Untag takes the tags off, as if the snapshot had been taken before tagging.
func (s *ImageSnapshot) Untag() error { return s.SetMetadata(unset(s.request.tags)) }

// ImageSnapshot takes a snapshot of a volume, which may be another cluster's.
func (c *Cluster) ImageSnapshot(source *Image, name string) (*ImageSnapshot, error) {
	s, ioctx, err := c.take(source, name)
	if err != nil {
		return s, err
	}
	return s, withImage(ioctx, s.Name, func(image *rbd.Image) error {
		if err := setMetadata(image, unset(source.request.tags)); err != nil {
			return err
		}
		return setMetadata(image, s.request.tags)
	})
}

// take leaves the tags as they are, which are those of the volume. Where that fails, what there is of the
// snapshot is returned all the same.
func (c *Cluster) take(source *Image, name string) (*ImageSnapshot, *rados.IOContext, error) {
	s := &ImageSnapshot{cluster: c, Source: source, Snapshot: name, request: c.snapshotRequest(name)}
	s.Name = source.Class.snapshotName(s.request.uuid)
	ioctx, err := c.ceph.at(source.Class.Place)
	if err != nil {
		return nil, nil, err
	}
	more := map[string]string{sourceKey: source.Name}
	if source.Class.Encrypted {
		more[kmsKey], more[encryptionTypeKey] = "default", "block"
	}
	if err := snapshotJournal.reserve(ioctx, s.request, s.Name, more); err != nil {
		return s, nil, err
	}
	if err := cloneThrough(ioctx, source.Name, s.Name, s.Name, Class{Features: copied}); err != nil {
		return s, nil, err
	}
	if err := createSnapshot(ioctx, s.Name, s.Name); err != nil {
		return s, nil, err
	}
	if s.ID, err = imageID(ioctx, s.Name); err != nil {
		return s, nil, err
	}
	c.note(s.ID)
	return s, ioctx, snapshotJournal.set(ioctx, s.request.uuid, map[string]string{idKey: s.ID})
}

// cloneThrough clones an image by a snapshot that it removes again.
func cloneThrough(ioctx *rados.IOContext, source, snapshot, target string, class Class) error {
	if err := createSnapshot(ioctx, source, snapshot); err != nil {
		return err
	}
	if err := clone(origin{ioctx, source, snapshot}, ioctx, target, class, 2); err != nil {
		return err
	}
	return removeSnapshot(ioctx, source, snapshot)
}

// Restore makes a volume of a snapshot, which may be another cluster's.
func (c *Cluster) Restore(s *ImageSnapshot, class Class, claim string) (*Image, error) {
	i, ioctx, err := c.restore(s, class, claim)
	if err != nil {
		return i, err
	}
	if err := setTags(ioctx, i.Name, unset(s.request.tags)); err != nil {
		return i, err
	}
	return i, i.complete(ioctx)
}

// UnfinishedRestore is what a crash leaves: the new image has the tags of the snapshot, which
// librbd copied, and the journal does not know its ID.
func (c *Cluster) UnfinishedRestore(s *ImageSnapshot, class Class, claim string) (*Image, error) {
	i, ioctx, err := c.restore(s, class, claim)
	if err != nil {
		return nil, err
	}
	return i, i.readID(ioctx)
}

func (c *Cluster) restore(s *ImageSnapshot, class Class, claim string) (*Image, *rados.IOContext, error) {
	i, ioctx, err := c.reserveImage(class, claim)
	if err != nil {
		return nil, nil, err
	}
	from, err := c.ceph.at(s.Source.Class.Place)
	if err != nil {
		return i, nil, err
	}
	return i, ioctx, clone(origin{from, s.Name, s.Name}, ioctx, i.Name, class, 2)
}

// Delete is DeleteSnapshot. The image goes at once when nothing was restored from it; else into
// the trash, where the mgr tries to remove it again and again.
func (s *ImageSnapshot) Delete() error {
	ioctx, err := s.cluster.ceph.at(s.Source.Class.Place)
	if err != nil {
		return err
	}
	if err := removeSnapshot(ioctx, s.Name, s.Name); err != nil && !IsMissing(err) {
		return err
	}
	if err := s.cluster.ceph.discard(s.Source.Class.Place, s.Name); err != nil {
		return fmt.Errorf("deleting snapshot %s: %w", s.Snapshot, err)
	}
	return snapshotJournal.release(ioctx, s.request)
}
