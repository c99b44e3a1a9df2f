package volumes

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

// Filesystem is what the mons say of one.
type Filesystem struct {
	ID                 int64
	Name, MetadataPool string
}

// FilesystemOf is the one with the name, or where it is empty, with the number.
func (c *Ceph) FilesystemOf(name string, id int64) (Filesystem, error) {
	var dump struct {
		Filesystems []struct {
			ID     int64 `json:"id"`
			MDSMap struct {
				Name string `json:"fs_name"`
			} `json:"mdsmap"`
		} `json:"filesystems"`
	}
	if err := c.askMon("fs dump", &dump); err != nil {
		return Filesystem{}, err
	}
	out := Filesystem{ID: -1}
	for _, f := range dump.Filesystems {
		if f.MDSMap.Name == name || name == "" && f.ID == id {
			out = Filesystem{ID: f.ID, Name: f.MDSMap.Name}
		}
	}
	var list []struct {
		Name         string `json:"name"`
		MetadataPool string `json:"metadata_pool"`
	}
	if err := c.askMon("fs ls", &list); err != nil {
		return Filesystem{}, err
	}
	for _, f := range list {
		if f.Name == out.Name && out.ID >= 0 {
			out.MetadataPool = f.MetadataPool
			return out, nil
		}
	}
	return Filesystem{}, fmt.Errorf("fs (%s, ID %d) not found in Ceph cluster", name, id)
}

func (c *Ceph) askMon(prefix string, answer any) error {
	output, status, err := c.conn.MonCommand(fmt.Appendf(nil, `{"prefix":%q,"format":"json"}`, prefix))
	if err != nil {
		return fmt.Errorf("%s: %w: %q", prefix, err, status)
	}
	return json.Unmarshal(output, answer)
}

// AskedSubvolume is the uuid that the journal has for the request; empty when there is none.
func (c *Cluster) AskedSubvolume(class FileClass) (string, error) {
	return c.reserved(volumeJournal, class.Journal())
}

// AskedSubvolumeSnapshot is the same for a snapshot.
func (c *Cluster) AskedSubvolumeSnapshot(class FileClass) (string, error) {
	return c.reserved(fileSnapshotJournal, class.Journal())
}

// FindSubvolume is the volume with that uuid, and the handle of the snapshot that it shows when it
// is a shallow one. Neither needs to exist any more.
func (c *Cluster) FindSubvolume(class FileClass, uuid string) (*Subvolume, string, error) {
	r, entry, err := c.found(volumeJournal, class.Journal(), uuid)
	if err != nil {
		return nil, "", err
	}
	name := orElse(entry[volumeJournal.nameKey], defaultVolumePrefix+uuid)
	return &Subvolume{cluster: c, request: r, Class: class, Name: name}, entry[backingKey], nil
}

// FindSubvolumeSnapshot is the snapshot with that uuid. Its source has no name where the journal
// does not know it.
func (c *Cluster) FindSubvolumeSnapshot(class FileClass, uuid string) (*SubvolumeSnapshot, error) {
	r, entry, err := c.found(fileSnapshotJournal, class.Journal(), uuid)
	if err != nil {
		return nil, err
	}
	source := &Subvolume{cluster: c, Class: class, Name: entry[sourceKey]}
	name := orElse(entry[fileSnapshotJournal.nameKey], defaultSnapPrefix+uuid)
	return &SubvolumeSnapshot{cluster: c, request: r, Source: source, Name: name}, nil
}

// FindShallow is a volume that shows a snapshot.
func (c *Cluster) FindShallow(s *SubvolumeSnapshot, uuid string) (*Shallow, error) {
	v, _, err := c.FindSubvolume(s.Source.Class, uuid)
	if err != nil {
		return nil, err
	}
	return &Shallow{cluster: c, request: v.request, Snapshot: s, Name: v.Name}, nil
}

// SubvolumeInfo is what the mgr says of a subvolume.
type SubvolumeInfo struct {
	Path string `json:"path"`
	// Quota is a number, or "infinite".
	Quota any    `json:"bytes_quota"`
	State string `json:"state"`
}

// Bytes of the quota; 0 when it has none.
func (i SubvolumeInfo) Bytes() int64 {
	bytes, _ := i.Quota.(float64)
	return int64(bytes)
}

// Info is `fs subvolume info`.
func (v *Subvolume) Info() (info SubvolumeInfo, err error) {
	return info, v.answer("fs subvolume info", nil, &info)
}

// Path is `fs subvolume getpath`.
func (v *Subvolume) Path() (string, error) {
	output, err := v.cluster.ceph.command("fs subvolume getpath", v.arguments(nil))
	return string(output), err
}

func (v *Subvolume) arguments(more map[string]any) map[string]any {
	out := map[string]any{"vol_name": v.Class.Filesystem, "sub_name": v.Name, "group_name": v.Class.group()}
	maps.Copy(out, more)
	return out
}

func (v *Subvolume) answer(prefix string, more map[string]any, answer any) error {
	output, err := v.cluster.ceph.command(prefix, v.arguments(more))
	if err != nil {
		return err
	}
	return json.Unmarshal(output, answer)
}

// Unreserve takes the volume out of the journal.
func (v *Subvolume) Unreserve() error {
	ioctx, err := v.journal()
	if err != nil {
		return err
	}
	return volumeJournal.release(ioctx, v.request)
}

// Purge removes a subvolume that did not come to be.
func (v *Subvolume) Purge() error { return v.ask("fs subvolume rm", map[string]any{"force": true}) }

// Retag sets the tags again, as each repeated request does.
func (v *Subvolume) Retag() error { return v.tag(v.cluster.asked.tags) }

// BeginRestore is RestoreSubvolume up to the copying, which CopyState tells of.
func (c *Cluster) BeginRestore(s *SubvolumeSnapshot, class FileClass) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(class, "")
	if err != nil {
		return v, err
	}
	return v, v.copyFrom(s.Source, s.Name)
}

// BeginClone is CloneSubvolume up to the copying. DropCopySource is what must come after it.
func (c *Cluster) BeginClone(source *Subvolume, class FileClass) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(class, "")
	if err != nil {
		return v, err
	}
	if err := source.ask("fs subvolume snapshot create", map[string]any{"snap_name": v.Name}); err != nil {
		return v, err
	}
	return v, v.copyFrom(source, v.Name)
}

// CopyState is `fs clone status`: pending, in-progress, complete, failed or canceled.
func (v *Subvolume) CopyState() (string, error) { return v.copyState() }

// DropCopySource removes the snapshot that a volume was cloned by.
func (v *Subvolume) DropCopySource(source *Subvolume) error {
	return source.ask("fs subvolume snapshot rm", map[string]any{"snap_name": v.Name, "force": true})
}

// SnapshotInfo is what the mgr says of a snapshot.
type SnapshotInfo struct {
	CreatedAt        string `json:"created_at"`
	HasPendingClones string `json:"has_pending_clones"`
}

// Created is when, as far as it can be read.
func (i SnapshotInfo) Created() time.Time {
	at, err := time.Parse("2006-01-02 15:04:05.999999", i.CreatedAt)
	if err != nil {
		return time.Now()
	}
	return at
}

// Info is `fs subvolume snapshot info`.
func (s *SubvolumeSnapshot) Info() (info SnapshotInfo, err error) {
	return info, s.Source.answer("fs subvolume snapshot info", map[string]any{"snap_name": s.Name}, &info)
}

// Unreserve takes the snapshot out of the journal.
func (s *SubvolumeSnapshot) Unreserve() error {
	ioctx, err := s.journal()
	if err != nil {
		return err
	}
	return fileSnapshotJournal.release(ioctx, s.request)
}

// Owner is the namespace of the volume's claim.
func (v *Subvolume) Owner() string { return v.request.owner }
