// Package report has the values that features publish about themselves, for the status
// ConfigMap and the metrics. A feature that has nothing to tell yet publishes nothing.
package report

import (
	"maps"
	"slices"
	"time"
)

// Connection is what the connection to one Ceph cluster tells.
type Connection struct {
	// FSID of the Ceph cluster; empty while none has ever answered.
	FSID string
	// Sources are where the Ceph cluster is declared, such as "Secret ceph-credentials", sorted.
	Sources []string
	// Reachable says whether the Ceph cluster answers, Since for how long that has been so.
	Reachable bool
	Since     time.Time
	// Version is the release that the mons run, such as "19.2.3".
	Version string
	// Epoch is the monmap's, EpochSince when it was first seen.
	Epoch      int64
	EpochSince time.Time
}

// Users is how the driver gets its cephx users. It never has a key.
type Users struct {
	// Mode is "Mint" or "Passthrough".
	Mode string
	// Names are the users that the driver works as, such as "client.csi-rbd-node.x", sorted.
	Names []string
	// Reason tells why the mode is not another, in a sentence; empty when it was asked for.
	Reason string
}

// Pools is what is known of the pools in use; names by fsid, sorted.
type Pools struct {
	// Missing are named by StorageClasses or volumes and do not exist.
	Missing map[string][]string
	// Protected carry Ceph's nodelete flag while they are in use, Unprotected should.
	Protected, Unprotected map[string][]string
}

// Capacities are what is in the pools in use, by fsid; those with the most volumes first.
type Capacities map[string][]Capacity

// Capacity is what is in a pool in use.
type Capacity struct {
	Pool string
	// Volumes is how many PersistentVolumes lie there, with their data or with what leads to it.
	Volumes int
	// Measured is false while Ceph does not say how full the pool is.
	Measured bool
	// Stored is what is written, Available what can still be, in bytes and without copies.
	Stored, Available uint64
}

// MonSync is how long the newest monmap took to the Secret that pods mount, in seconds from
// when its quorum was seen.
type MonSync struct{ Seconds float64 }

// WrittenMons are the epochs, by fsid, of the newest monmaps whose mons the Secret lists that pods
// mount.
type WrittenMons map[string]int64

// Tags is what is known of the tags of volumes and snapshots, by fsid.
type Tags map[string]TagCounts

// TagCounts is how many volumes and snapshots of a Ceph cluster there are of each kind; together
// they are all of the driver that are not being deleted.
type TagCounts struct {
	// Tagged ones say that they are this cluster's.
	Tagged int
	// Untagged ones should, and cannot be made to at the moment.
	Untagged int
	// Conflicting ones have the tag of another cluster, and keep it.
	Conflicting int
	// Missing ones have no image, subvolume or snapshot any more.
	Missing int
	// NothingToTag are volumes that show a snapshot, or a directory of an administrator's, and
	// snapshots of subvolumes that were removed.
	NothingToTag int
}

// Machines is what virtual machines can do on a StorageClass: by its name and that of the
// feature, why not; empty if they can.
type Machines map[string]map[string]string

// Classes are the first StorageClasses by name, and how many are left out.
func (m Machines) Classes(most int) ([]string, int) {
	names := slices.Sorted(maps.Keys(m))
	shown := min(len(names), most)
	return names[:shown], len(names) - shown
}

// Nodes counts those that are to have a node pod, and those that settings leave out.
type Nodes struct {
	// Served ones can mount volumes.
	Served int
	// NotServed ones cannot, though they are ready.
	NotServed int
	// NotReady ones are away themselves.
	NotReady int
	// LeftOut ones are to have no node pod, although they run Linux.
	LeftOut int
}
