package teardown

import (
	"cmp"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Kind is what an Item is.
type Kind string

// The kinds, in the order in which people read of them.
const (
	// Image is an RBD image of a volume; TemporaryImage is the one that ceph-csi puts between a
	// volume and its clone; SnapshotImage holds a VolumeSnapshot of RBD.
	Image          Kind = "image"
	TemporaryImage Kind = "temporary image"
	SnapshotImage  Kind = "snapshot image"
	ImageGroup     Kind = "image group"
	// Subvolume is a CephFS subvolume, a clone too; ShallowVolume is a CephFS volume that shows a
	// snapshot and has no subvolume.
	Subvolume         Kind = "subvolume"
	SubvolumeSnapshot Kind = "subvolume snapshot"
	ShallowVolume     Kind = "shallow volume"
	// Journal is an entry of ceph-csi's journals whose volume or snapshot is gone.
	Journal Kind = "journal entry"
	// Record is where an earlier run wrote down what it was about to remove.
	Record Kind = "record of an earlier run"
	// User is a cephx user that the operator made.
	User Kind = "user"
	// Protection is this cluster's mark on a pool that keeps it from removal.
	Protection Kind = "pool protection"
)

// carries says that volumes rest on it: without it, those that are left can be neither used nor found.
func (k Kind) carries() bool { return k == User || k == Protection }

func (Kind) any() bool { return true }

// Place is where an Item is. Only the fields that its kind has are set.
type Place struct {
	Pool string `json:"pool,omitempty"`
	// Namespace is the RADOS namespace; that of a pool without any is empty.
	Namespace  string `json:"namespace,omitempty"`
	Filesystem string `json:"filesystem,omitempty"`
	// Group is the subvolume group.
	Group string `json:"group,omitempty"`
	// Subvolume is the one that a snapshot is of.
	Subvolume string `json:"subvolume,omitempty"`
}

// String is "pool", "pool/namespace", "filesystem:group" or "filesystem:group/subvolume".
func (p Place) String() string {
	volumes := strings.TrimRight(p.Filesystem+":"+p.Group+"/"+p.Subvolume, ":/")
	pool := strings.TrimSuffix(p.Pool+"/"+p.Namespace, "/")
	return cmp.Or(volumes, pool)
}

// Item is one thing of Ceph's that teardown decides on.
type Item struct {
	Kind  Kind   `json:"kind"`
	Place Place  `json:"place"`
	Name  string `json:"name"`
	// ID is the image's, by which it is found in the trash; empty for other kinds.
	ID string `json:"id,omitempty"`
	// Trash says that the image is in the trash of its pool.
	Trash bool `json:"trash,omitempty"`
	// UUID and Location (the ID of the pool of an image, or of the filesystem) stand in the volume
	// handle. UUID is empty where the name has none.
	UUID     string `json:"uuid,omitempty"`
	Location int64  `json:"-"`
	// Size is the provisioned size in bytes.
	Size uint64 `json:"size,omitempty"`
	// PV is the PersistentVolume or VolumeSnapshotContent that it was made for, PVC the
	// PersistentVolumeClaim or VolumeSnapshot, as "namespace/name".
	PV  string `json:"pv,omitempty"`
	PVC string `json:"pvc,omitempty"`
	// Tag is the infra ID that it carries; empty where it carries none.
	Tag string `json:"tag,omitempty"`
	// Retain is the mark of volumes whose PersistentVolume said reclaimPolicy Retain, and of
	// snapshots whose VolumeSnapshotContent said deletionPolicy Retain.
	Retain bool `json:"retain,omitempty"`
	// Created is zero where Ceph does not tell.
	Created time.Time `json:"created,omitzero"`
}

// ObjectName is "namespace/name" of an object, and empty where it has no name.
func ObjectName(namespace, name string) string {
	if name == "" {
		return ""
	}
	return namespace + "/" + name
}

// Full is the name with its place, in one line, as Ceph's commands take it of images.
func (i Item) Full() string {
	return ceph.OneLine(strings.TrimPrefix(i.Place.String()+"/"+i.Name, "/"))
}

// retained says who wanted the Item to outlive the cluster.
func (i Item) retained() string {
	if i.Kind == SnapshotImage || i.Kind == SubvolumeSnapshot {
		return "its VolumeSnapshotContent said deletionPolicy Retain"
	}
	return "its PersistentVolume said reclaimPolicy Retain"
}

// Verdict is what happens with an Item.
type Verdict string

// The verdicts.
const (
	// Remove is for what is provably of the cluster.
	Remove Verdict = "remove"
	// Keep is for what was meant to stay, or shows no sign of being the cluster's.
	Keep Verdict = "keep"
	// Refuse is for what carries the cluster's tag, but must not or cannot be removed.
	Refuse Verdict = "refuse"
)

// Decision is what happens with an Item, and why.
type Decision struct {
	Item
	Verdict Verdict `json:"verdict"`
	// Reason is a sentence without its full stop: of what is removed, what proves that it is the
	// cluster's; else what speaks against it, and how to mend that.
	Reason string `json:"reason"`
}

// Decide makes a decision on the Item.
func (i Item) Decide(v Verdict, reason string) Decision { return Decision{i, v, reason} }

// Outcome is what became of a decision to remove.
type Outcome struct {
	Decision
	// Note says what stays although nothing failed, such as a parent in the trash that waits for
	// another cluster's clone; usually empty.
	Note string
	// Err is nil when the item is gone, verified by reading again.
	Err error
}

// Findings are what a Part found. Finding changes nothing.
type Findings struct {
	Decisions []Decision
	// Tags counts the items by the infra ID that they carry, of all clusters.
	Tags map[string]int
	// Alive are sentences on whoever uses the cluster's volumes just now.
	Alive []string
}

// compareDecisions sorts by what happens, then by place and name.
func compareDecisions(a, b Decision) int {
	return cmp.Or(
		cmp.Compare(a.Verdict.rank(), b.Verdict.rank()),
		cmp.Compare(a.Place.String(), b.Place.String()),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID),
	)
}

func (v Verdict) rank() int {
	return map[Verdict]int{Remove: 1, Keep: 2, Refuse: 3}[v]
}
