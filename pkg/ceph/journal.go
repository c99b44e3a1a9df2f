package ceph

import (
	"strings"
)

// JournalKind is what an object of ceph-csi's journals is about.
type JournalKind string

// The kinds. An object and the directory that lists it have the same.
const (
	JournalVolume   JournalKind = "volume"
	JournalSnapshot JournalKind = "snapshot"
	// JournalGroup is a group of volumes, or of snapshots of them.
	JournalGroup JournalKind = "group"
	// JournalReferences counts who still needs the snapshot behind CephFS volumes that have no
	// subvolume of their own.
	JournalReferences JournalKind = "references"
)

// Prefixes of ceph-csi's objects and keys (internal/journal/voljournal.go and
// volumegroupjournal.go, internal/cephfs/core/reftracker).
const (
	volumePrefix     = "csi.volume."
	groupPrefix      = "csi.volume.group."
	snapshotPrefix   = "csi.snap."
	referencesPrefix = "rt-backingsnapshot-"

	volumesPrefix   = "csi.volumes."
	snapshotsPrefix = "csi.snaps."
	groupsPrefix    = "csi.groups."
)

// JournalDirectories are the directories of a ceph-csi that was told no --instanceid. Of one that
// was, their names end in that. Nothing else has the ID in its name.
var JournalDirectories = []string{volumesPrefix + "default", snapshotsPrefix + "default", groupsPrefix + "default"}

// JournalName is what the name of a RADOS object of ceph-csi's journals says.
type JournalName struct {
	Kind JournalKind
	// Directory says that the object lists request names and their UUIDs; clusters share it.
	Directory bool
	// UUID names the volume, snapshot or group; empty for directories and references.
	UUID string
	// Handle is the snapshot's, for references alone.
	Handle string
}

// ParseJournalName reads the name of a RADOS object; false means that it is none of ceph-csi's
// journals, or one that was not written by it.
func ParseJournalName(object string) (JournalName, bool) {
	for _, form := range []struct {
		prefix string
		kind   JournalKind
	}{{volumesPrefix, JournalVolume}, {snapshotsPrefix, JournalSnapshot}, {groupsPrefix, JournalGroup}} {
		if instance, ok := strings.CutPrefix(object, form.prefix); ok {
			return JournalName{Kind: form.kind, Directory: true}, instance != ""
		}
	}
	if handle, ok := strings.CutPrefix(object, referencesPrefix); ok {
		return JournalName{Kind: JournalReferences, Handle: handle}, handle != ""
	}
	// The group's prefix starts with the volume's.
	for _, form := range []struct {
		prefix string
		kind   JournalKind
	}{{groupPrefix, JournalGroup}, {volumePrefix, JournalVolume}, {snapshotPrefix, JournalSnapshot}} {
		if uuid, ok := strings.CutPrefix(object, form.prefix); ok {
			return JournalName{Kind: form.kind, UUID: uuid}, IsUUID(uuid)
		}
	}
	return JournalName{}, false
}

// Object is the name of the RADOS object, where the name is not that of a directory.
func (n JournalName) Object() string {
	switch n.Kind {
	case JournalVolume:
		return volumePrefix + n.UUID
	case JournalSnapshot:
		return snapshotPrefix + n.UUID
	case JournalGroup:
		return groupPrefix + n.UUID
	}
	return referencesPrefix + n.Handle
}

// keyPrefix starts the keys of a directory.
func (k JournalKind) keyPrefix() string {
	return map[JournalKind]string{JournalVolume: volumePrefix, JournalSnapshot: snapshotPrefix, JournalGroup: groupPrefix}[k]
}

// IsUUID accepts the form that ceph-csi writes: five groups of lower-case hexadecimal digits.
func IsUUID(text string) bool {
	if len(text) != uuidLength {
		return false
	}
	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		digit := isDigit(rune(text[i])) || text[i] >= 'a' && text[i] <= 'f'
		if dash != (text[i] == '-') || !dash && !digit {
			return false
		}
	}
	return true
}

// temporarySuffix ends the name of the image between a volume and its clone.
const temporarySuffix = "-temp"

// CSIName is what the name of an image or subvolume says. Any prefix is possible: StorageClasses
// and VolumeSnapshotClasses choose it.
type CSIName struct {
	Prefix string
	UUID   string
	// Temporary marks the image that ceph-csi puts between a volume and its clone, which has the
	// name of the clone with "-temp" behind it.
	Temporary bool
}

// ParseCSIName reads "<prefix><uuid>" and "<prefix><uuid>-temp"; false means that ceph-csi did
// not make up the name.
func ParseCSIName(name string) (CSIName, bool) {
	whole, temporary := strings.CutSuffix(name, temporarySuffix)
	cut := len(whole) - uuidLength
	if cut < 0 || !IsUUID(whole[cut:]) {
		return CSIName{}, false
	}
	return CSIName{Prefix: whole[:cut], UUID: whole[cut:], Temporary: temporary}, true
}

// SnapshotsDirectory is where each directory of a filesystem shows its snapshots.
const SnapshotsDirectory = ".snap"

// SnapshotShown is the name of the snapshot that a folder in SnapshotsDirectory shows: below the directory of which the
// snapshot was taken, that is "_<name>_<number of that directory's inode>" (SnapInfo::get_long_name in Ceph's mds/snap.cc).
func SnapshotShown(folder string) string {
	end := strings.LastIndex(folder, "_")
	if end < 1 || folder[0] != '_' || strings.TrimLeft(folder[end+1:], "0123456789") != "" {
		return folder
	}
	return folder[1:end]
}

// Owner is the name of the image that a temporary image belongs to, and else the name itself.
func (n CSIName) Owner() string { return n.Prefix + n.UUID }
