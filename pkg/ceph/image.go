package ceph

import (
	"strings"
	"time"
)

// ImageRef tells an RBD image from all others of a Ceph cluster, in the trash too.
type ImageRef struct {
	PoolID int64
	// Namespace is the RADOS namespace.
	Namespace string
	ID        string
}

// RBDImage is an RBD image as its omaps show it. Nothing was opened for it.
type RBDImage struct {
	ImageRef
	// Pool is the name of the pool.
	Pool string
	// Name is what the directory says, or the trash. It may be in both, when a move was cut off.
	Name   string
	Listed bool
	// Trash is nil for images outside of it.
	Trash *TrashEntry
	// Header says that there is a header; without one, nothing below is known.
	Header bool

	Size     uint64 // bytes
	Order    uint8  // of the object size
	Features uint64
	// DataPool is the ID of the pool that has the data; 0 for that of the image.
	DataPool int64
	Created  time.Time
	Metadata map[string]string
	// Parent is nil unless the image is a clone.
	Parent    *ImageParent
	Snapshots []ImageSnapshot
	// Group is nil unless the image is in one.
	Group *GroupRef
	// Mirrored says that its pool's rbd-mirror knows it.
	Mirrored bool
}

// ImageParent is the snapshot that a clone was made of.
type ImageParent struct {
	ImageRef
	SnapID uint64
}

// SnapshotKind is who looks after a snapshot of an image.
type SnapshotKind uint32

// The kinds, by the numbers of cls::rbd::SnapshotNamespaceType.
const (
	// UserSnapshot is one that somebody made; TrashSnapshot one that was removed under a clone, which
	// goes with the last clone.
	UserSnapshot   SnapshotKind = 0
	GroupSnapshot  SnapshotKind = 1
	TrashSnapshot  SnapshotKind = 2
	MirrorSnapshot SnapshotKind = 3
)

// ImageSnapshot is a snapshot of an image.
type ImageSnapshot struct {
	ID        uint64
	Name      string
	Kind      SnapshotKind
	Protected bool
	// Children are clones of it as the image's header lists them; format 1 clones are not there.
	Children []ImageRef
}

// TrashState is how far a move to or out of the trash, or a removal, has come.
type TrashState uint8

// The states, by the numbers of cls::rbd::TrashImageState.
const (
	TrashNormal    TrashState = 0
	TrashMoving    TrashState = 1
	TrashRemoving  TrashState = 2
	TrashRestoring TrashState = 3
)

// TrashEntry is what the trash says about an image.
type TrashEntry struct {
	// Removing says that `rbd rm` was cut off: the entry is not listed by any tool.
	Removing bool
	Name     string
	State    TrashState
}

// GroupRef is a group of images.
type GroupRef struct {
	PoolID int64
	ID     string
}

// RBDGroup is a group of images in a RADOS namespace of a pool.
type RBDGroup struct {
	GroupRef
	Pool      string
	Namespace string
	Name      string
	// Snapshots are the names of the group's snapshots.
	Snapshots []string
}

// Features of images that teardown does not know how to remove.
const (
	featureJournaling = 1 << 6
	featureMigrating  = 1 << 9
	featureNonPrimary = 1 << 10
)

// Replicated says that another Ceph cluster may follow the image.
func (i RBDImage) Replicated() bool {
	mirror := func(s ImageSnapshot) bool { return s.Kind == MirrorSnapshot }
	for _, s := range i.Snapshots {
		if mirror(s) {
			return true
		}
	}
	return i.Mirrored || i.Features&(featureJournaling|featureNonPrimary) != 0
}

// Migrating says that the image is on its way to another place.
func (i RBDImage) Migrating() bool { return i.Features&featureMigrating != 0 }

// Objects is how many data objects the image can have, at most. Removing it asks for each of
// them, unless a map of the image's says which there are.
func (i RBDImage) Objects() uint64 {
	if i.Order >= 64 {
		return 0
	}
	return i.Size>>i.Order + 1
}

// Path is pool[/namespace]/name, as `rbd` takes it.
func (i RBDImage) Path() string {
	return strings.Join([]string{placeOf(i.Pool, i.Namespace), i.Name}, "/")
}

// placeOf is pool[/namespace].
func placeOf(pool, namespace string) string {
	if namespace == "" {
		return pool
	}
	return pool + "/" + namespace
}

// ImageUse is who has an image open for writing, or mapped.
type ImageUse struct {
	// Clients are their addresses; empty if nobody has.
	Clients []string
	// Alive says that at least one of them answered. Clients that do not are dropped after 30 s.
	Alive bool
}
