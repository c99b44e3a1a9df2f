// Package ceph holds what the rest of the tree knows of Ceph: value types, sentinel
// errors and pure parsers. It needs neither cgo nor Kubernetes; pkg/ceph/rados talks
// to a real Ceph, pkg/ceph/cephtest is one in memory.
package ceph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Credentials is a cephx user.
type Credentials struct {
	// UserID is the user's name without the leading "client.".
	UserID string
	Key    Key
}

// Source is what an administrator declared: how to reach a Ceph cluster, and as whom.
type Source struct {
	// Monitors are the initial mon addresses, de-duplicated, in the order given.
	Monitors []Address
	// FSID is the declared Ceph cluster ID; empty when the declaration has none.
	FSID string
	Credentials
}

// Cluster is what a live connection to a Ceph cluster told.
type Cluster struct {
	FSID   string
	MonMap MonMap
	// EpochSince is when the monmap's epoch was first seen.
	EpochSince time.Time
	// Releases are all that its daemons run, such as "19.2.3", sorted as text, and Version is the oldest of them: in
	// an upgrade, which begins with the mons, OSDs run the former one for days. None are known before Ceph has told.
	Releases []string
	Version  string
	// Credentials are those of the connection, for drivers that share the operator's user.
	Credentials Credentials
}

var fsidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// IsFSID accepts a UUID in lower case, as Ceph prints it.
func IsFSID(text string) bool { return fsidForm.MatchString(text) }

// OldestMajor and OldestMinor are the oldest release of Ceph that ceph-csi works with, in this version
// and in the next one: since 16.2 there are the commands that it sends. What is to be raised in a
// version is raised here in the one before, so that nobody comes to it with an older Ceph.
const OldestMajor, OldestMinor = 16, 2

// TooOld says whether a release such as "15.2.17" is older than that. One of no known form is not.
func TooOld(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major < OldestMajor || major == OldestMajor && minor < OldestMinor
}

// IsRelease says whether a release, which a distributor may have built, such as "20.2.0-71.el9cp", is one of Ceph.
func IsRelease(release, of string) bool {
	return release == of || strings.HasPrefix(release, of+"-")
}

// Quiesces says whether a release such as "18.2.7" is one that has clients of subvolumes hold still for a snapshot of
// several, as Ceph does since 19.2. One of no known form is.
func Quiesces(release string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return true
	}
	return major > 19 || major == 19 && minor >= 2
}

// Pool is one line of `ceph osd pool ls detail`.
type Pool struct {
	ID   int64
	Name string
	// Applications are the enabled applications ("rbd", "cephfs", …), sorted.
	Applications []string
	ErasureCoded bool
	// Overwrites says that an erasure-coded pool can hold the data of images.
	Overwrites bool
	// NoDelete keeps the pool from being removed.
	NoDelete bool
	// Full says that writes wait until there is room, or a higher quota.
	Full bool
	// Metadata are the keys and values that clients left with the applications, by application.
	Metadata map[string]map[string]string
}

// FileSystem is one CephFS filesystem of `ceph fs dump`.
type FileSystem struct {
	ID   int64
	Name string
	// Active says that every rank has an MDS in state up:active, or is being given up. Without one, commands
	// of the mgr's volumes module hang and block it for everyone (seen with Ceph 16.2.15).
	Active bool
	// Ranks are those that clients may have a session with, sorted.
	Ranks []Rank
	// Default is the filesystem of clients that name none.
	Default bool
	// MetadataPool and DataPools are the IDs of the filesystem's pools.
	MetadataPool int64
	DataPools    []int64
}

// Rank is a part of the work on a filesystem.
type Rank struct {
	Number int
	// MDS is the global ID of the daemon that holds it, and not of a standby that replays for it; 0
	// while none does.
	MDS int64
}

// Placement is where volumes of a default StorageClass go.
type Placement struct {
	// FSID of the Ceph cluster for which the place was chosen.
	FSID string
	// Pool of RBD images; empty for CephFS.
	Pool string
	// DataPool holds the data of RBD images whose Pool holds the metadata; usually empty.
	DataPool string
	// Filesystem and SubvolumeGroup of CephFS subvolumes; empty for RBD.
	Filesystem     string
	SubvolumeGroup string
	// JournalNamespace is the RADOS namespace of the filesystem's metadata pool in which ceph-csi keeps the
	// journal of subvolumes; empty for its own choice.
	JournalNamespace string
}

// CheckActive returns ErrNotFound or ErrNoActiveMDS for a filesystem that commands on subvolumes
// cannot work on.
func CheckActive(filesystems []FileSystem, name string) error {
	i := slices.IndexFunc(filesystems, func(f FileSystem) bool { return f.Name == name })
	if i < 0 {
		return ErrNotFound
	}
	if !filesystems[i].Active {
		return ErrNoActiveMDS
	}
	return nil
}
