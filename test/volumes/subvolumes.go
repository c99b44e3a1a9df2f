package volumes

import (
	"fmt"

	"github.com/ceph/go-ceph/rados"
)

// FileClass is what a StorageClass or its clusterID's configuration says about subvolumes.
type FileClass struct {
	Filesystem string
	// MetadataPool of the filesystem has the journal; empty means "<filesystem>-metadata".
	MetadataPool string
	// Group is the subvolume group, and Namespace the RADOS namespace of the journal; empty means
	// "csi", ceph-csi's own.
	Group, Namespace string
	// DataPool has the files' data; empty means the filesystem's first.
	DataPool string
	// Prefix is volumeNamePrefix, and SnapshotPrefix snapshotNamePrefix; empty means ceph-csi's.
	Prefix, SnapshotPrefix string
	// Bytes is the quota; 0 means 8 MiB.
	Bytes uint64
}

func (c FileClass) group() string { return orElse(c.Group, "csi") }

// Journal is where ceph-csi keeps its journal.
func (c FileClass) Journal() Place {
	return Place{orElse(c.MetadataPool, c.Filesystem+"-metadata"), orElse(c.Namespace, "csi")}
}

func (c FileClass) bytes() uint64 {
	if c.Bytes == 0 {
		return 8 << 20
	}
	return c.Bytes
}

func (c FileClass) name(uuid string) string { return orElse(c.Prefix, defaultVolumePrefix) + uuid }

// Subvolume is a volume of the CephFS driver.
type Subvolume struct {
	cluster *Cluster
	request request
	Class   FileClass
	// Claim is the PVC's name.
	Claim string
	// Name of the subvolume.
	Name string
}

// PV is its PersistentVolume.
func (v *Subvolume) PV() string { return v.request.name }

// UUID is what its journal entries are found by.
func (v *Subvolume) UUID() string { return v.request.uuid }

// Handle is the PV's volume handle.
func (v *Subvolume) Handle() (string, error) {
	return v.cluster.fileHandle(v.Class, v.request.uuid)
}

// Group makes the subvolume group of a class, unless it is there.
func (c *Ceph) Group(class FileClass) error {
	_, err := c.command("fs subvolumegroup create", map[string]any{"vol_name": class.Filesystem, "group_name": class.group()})
	return err
}

// Subvolume makes a volume. Its group must be there.
func (c *Cluster) Subvolume(class FileClass, claim string) (*Subvolume, error) {
	v, err := c.UnfinishedSubvolume(class, claim)
	if err != nil {
		return v, err
	}
	return v, v.tag(v.request.tags)
}

// UnfinishedSubvolume is what a crash before the tags were set leaves.
func (c *Cluster) UnfinishedSubvolume(class FileClass, claim string) (*Subvolume, error) {
	v, err := c.ReservedSubvolume(class, claim)
	if err != nil {
		return v, err
	}
	arguments := map[string]any{"size": class.bytes()}
	if class.DataPool != "" {
		arguments["pool_layout"] = class.DataPool
	}
	return v, v.ask("fs subvolume create", arguments)
}

// ReservedSubvolume is what a crash before the subvolume was made leaves: the journal alone. The
// same is left when a deletion, or another program's, is interrupted after the subvolume went.
func (c *Cluster) ReservedSubvolume(class FileClass, claim string) (*Subvolume, error) {
	v := &Subvolume{cluster: c, Class: class, Claim: claim, request: c.volumeRequest(claim)}
	v.Name = class.name(v.request.uuid)
	ioctx, err := v.journal()
	if err != nil {
		return nil, err
	}
	return v, volumeJournal.reserve(ioctx, v.request, v.Name, nil)
}

// Expand is ControllerExpandVolume.
func (v *Subvolume) Expand(bytes uint64) error {
	return v.ask("fs subvolume resize", map[string]any{"new_size": fmt.Sprint(bytes)})
}

// Pin is ControllerModifyVolume: which MDS serves the subvolume, by a kind such as export.
func (v *Subvolume) Pin(kind, setting string) error {
	return v.ask("fs subvolume pin", map[string]any{"pin_type": kind, "pin_setting": setting})
}

// SetMetadata sets keys beside the tags; an empty value removes its key.
func (v *Subvolume) SetMetadata(values map[string]string) error { return v.tag(values) }

// Untag takes the tags off, as if the volume had been made before tagging.
func (v *Subvolume) Untag() error { return v.tag(unset(v.request.tags)) }

// Delete is DeleteVolume: the subvolume goes, or stays for its snapshots without its tags.
func (v *Subvolume) Delete() error {
	if err := v.ask("fs subvolume rm", map[string]any{"force": true, "retain_snapshots": true}); err != nil {
		return err
	}
	ioctx, err := v.journal()
	if err != nil {
		return err
	}
	return volumeJournal.release(ioctx, v.request)
}

func (v *Subvolume) journal() (*rados.IOContext, error) { return v.cluster.ceph.at(v.Class.Journal()) }

func (v *Subvolume) tag(tags map[string]string) error {
	for key, value := range tags {
		prefix, arguments := "fs subvolume metadata set", map[string]any{"key_name": key, "value": value}
		if value == "" {
			prefix, arguments = "fs subvolume metadata rm", map[string]any{"key_name": key}
		}
		if err := v.ask(prefix, arguments); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a command about the subvolume.
func (v *Subvolume) ask(prefix string, arguments map[string]any) error {
	_, err := v.cluster.ceph.command(prefix, v.arguments(arguments))
	return err
}
