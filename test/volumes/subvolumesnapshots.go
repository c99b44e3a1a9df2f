package volumes

import (
	"maps"

	"github.com/ceph/go-ceph/rados"
)

// fileSnapshotJournal has the owner under the empty key.
var fileSnapshotJournal = journal{
	directories: "csi.snaps.", keyPrefix: "csi.snap.", objectPrefix: "csi.snap.",
	nameKey: "csi.imagename", requestKey: "csi.snapname", ownerKey: "",
}

// SubvolumeSnapshot is a snapshot of the CephFS driver.
type SubvolumeSnapshot struct {
	cluster *Cluster
	request request
	// Source is the volume.
	Source *Subvolume
	// Snapshot is the VolumeSnapshot's name.
	Snapshot string
	// Name in CephFS.
	Name string
}

// UUID is what its journal entries are found by.
func (s *SubvolumeSnapshot) UUID() string { return s.request.uuid }

// Handle is that of the VolumeSnapshotContent.
func (s *SubvolumeSnapshot) Handle() (string, error) {
	return s.cluster.fileHandle(s.Source.Class, s.request.uuid)
}

// SubvolumeSnapshot takes a snapshot of a volume, which may be another cluster's.
func (c *Cluster) SubvolumeSnapshot(source *Subvolume, name string) (*SubvolumeSnapshot, error) {
	s := &SubvolumeSnapshot{cluster: c, Source: source, Snapshot: name, request: c.snapshotRequest(name)}
	s.Name = orElse(source.Class.SnapshotPrefix, defaultSnapPrefix) + s.request.uuid
	ioctx, err := s.journal()
	if err != nil {
		return nil, err
	}
	if err := fileSnapshotJournal.reserve(ioctx, s.request, s.Name, map[string]string{sourceKey: source.Name}); err != nil {
		return s, err
	}
	if err := source.ask("fs subvolume snapshot create", map[string]any{"snap_name": s.Name}); err != nil {
		return s, err
	}
	return s, s.SetMetadata(s.request.tags)
}

// Tags are those that ceph-csi gives it.
func (s *SubvolumeSnapshot) Tags() map[string]string { return maps.Clone(s.request.tags) }

// SetMetadata sets keys beside the tags, or instead of them; an empty value removes its key.
func (s *SubvolumeSnapshot) SetMetadata(values map[string]string) error {
	for key, value := range values {
		prefix, arguments := "fs subvolume snapshot metadata set", map[string]any{"snap_name": s.Name, "key_name": key, "value": value}
		if value == "" {
			prefix, arguments = "fs subvolume snapshot metadata rm", map[string]any{"snap_name": s.Name, "key_name": key}
		}
		if err := s.Source.ask(prefix, arguments); err != nil {
			return err
		}
	}
	return nil
}

// Untag takes the tags off, as if the snapshot had been taken before tagging.
func (s *SubvolumeSnapshot) Untag() error { return s.SetMetadata(unset(s.request.tags)) }

// Delete is DeleteSnapshot. While a shallow volume shows the snapshot, that only marks the
// reference.
func (s *SubvolumeSnapshot) Delete() error {
	ioctx, err := s.journal()
	if err != nil {
		return err
	}
	shown, err := s.mask(ioctx)
	if err != nil || shown {
		return err
	}
	return s.remove(ioctx)
}

func (s *SubvolumeSnapshot) remove(ioctx *rados.IOContext) error {
	if err := s.Source.ask("fs subvolume snapshot rm", map[string]any{"snap_name": s.Name, "force": true}); err != nil {
		return err
	}
	return fileSnapshotJournal.release(ioctx, s.request)
}

func (s *SubvolumeSnapshot) journal() (*rados.IOContext, error) { return s.Source.journal() }

// fileHandle is the handle of a volume or snapshot in a class.
func (c *Cluster) fileHandle(class FileClass, uuid string) (string, error) {
	f, err := c.ceph.FilesystemOf(class.Filesystem, 0)
	if err != nil {
		return "", err
	}
	return c.ceph.handle(f.ID, uuid), nil
}
