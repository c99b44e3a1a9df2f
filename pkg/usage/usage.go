// Package usage finds which places in which Ceph clusters an OpenShift cluster uses: what its
// StorageClasses name, and where its volumes lie. It needs no Ceph.
package usage

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Usage is what one driver's StorageClasses and volumes use. It is sorted, and compares with
// reflect.DeepEqual.
type Usage struct {
	Places []Place
	// Others are places of volumes and snapshots that other CSI drivers of ceph-csi serve, such as Rook's.
	Others []Place
	// Legacy are volumes from before CSI.
	Legacy []Legacy
	// Unreadable are StorageClasses whose parameters cannot be understood, Ineffective those with parameters that the
	// driver does not act on where this operator deploys it: somebody else's may.
	Unreadable, Ineffective []ClassProblem
	// Config is what clusterIDs were taken to stand for.
	Config []ceph.ConfigEntry
}

// Place is one place in use.
type Place struct {
	// Placement has the names, and as FSID the clusterID of class or volume handle, which is
	// the Ceph cluster's fsid unless somebody made a mistake. Of volumes whose attributes name
	// nothing, only the FSID is known.
	ceph.Placement
	// RADOSNamespace of images, or of the journal of subvolumes; empty for ceph-csi's own choice.
	RADOSNamespace string
	// Group is the subvolume group of a clusterID that somebody made; empty where that is the fsid, whose group
	// is the operator's.
	Group string
	// Monitors are those of config.json for the clusterID, sorted; none where it has no entry.
	Monitors []string
	// IDs are the pools, or filesystems, that volume handles name, sorted. They stay when a
	// pool is renamed.
	IDs []int64
	// Directories are the parts of the filesystem that hold the volumes, sorted; see
	// driver.Directory.
	Directories []string
	// Astray are the subvolume groups in which ceph-csi does not look for volumes that it has made there, sorted.
	Astray []Astray
	// Classes are the StorageClasses that name the place, sorted.
	Classes []string
	// Volumes is how many PersistentVolumes are there, Snapshots how many snapshots, which may outlive
	// their volumes.
	Volumes, Snapshots int
	// Journal says that volumes of another pool keep their journal there.
	Journal bool
}

// Astray is the directory of a subvolume group that has volumes of a clusterID whose group is another one by config.json.
type Astray struct{ ClusterID, Directory, Wanted string }

// OnlyNamed says that StorageClasses name it, and that no volume and no snapshot is known to have something there.
func (p Place) OnlyNamed() bool {
	return len(p.Classes) > 0 && p.Volumes+p.Snapshots == 0 && !p.Journal
}

// Legacy is a place of volumes from before CSI.
type Legacy struct {
	driver.Legacy
	Volumes int
}

// ClassProblem is what is wrong with a StorageClass, whatever Ceph has.
type ClassProblem struct{ Class, Problem string }

// In returns the places in one Ceph cluster, with its fsid.
func (u Usage) In(cluster ceph.Cluster) []Place {
	var out []Place
	for _, place := range u.Places {
		if place.IsIn(cluster) {
			place.FSID = cluster.FSID
			out = append(out, place)
		}
	}
	return out
}

// IsIn says whether a clusterID leads to a Ceph cluster: it is the fsid, or config.json has one of
// the cluster's mons for it. Another fsid never does: mons may be where those of a lost cluster were.
func (p Place) IsIn(cluster ceph.Cluster) bool {
	return p.FSID == cluster.FSID || !ceph.IsFSID(p.FSID) && cluster.MonMap.HasMon(p.Monitors)
}

// Volumes is how many volumes there are in all, without legacy ones.
func (u Usage) Volumes() int {
	sum := 0
	for _, place := range u.Places {
		sum += place.Volumes
	}
	return sum
}

// LegacyVolumes is how many volumes from before CSI there are.
func (u Usage) LegacyVolumes() int {
	sum := 0
	for _, legacy := range u.Legacy {
		sum += legacy.Volumes
	}
	return sum
}

// Snapshot is what matters of a VolumeSnapshotContent: the CSI driver that serves it, and the handle.
type Snapshot struct{ Driver, Handle string }

// Of finds what a driver's classes and volumes use, and what volumes like its own of other drivers
// do. config is what clusterIDs stand for. It takes some ten milliseconds for 20,000 volumes and keeps
// nothing of them: call it at most every few seconds.
func Of(d driver.Driver, config []ceph.ConfigEntry, classes []*storagev1.StorageClass, volumes []*corev1.PersistentVolume, snapshots ...Snapshot) Usage {
	f := finder{driver: d, config: map[string]ceph.ConfigEntry{}, places: placeSet{}, others: placeSet{}, legacy: map[driver.Legacy]int{}}
	for _, entry := range config {
		f.config[entry.ClusterID] = entry
	}
	var unreadable, ineffective []ClassProblem
	for _, class := range classes {
		if class.Provisioner != d.Name {
			continue
		}
		if err := f.class(class); err != nil {
			unreadable = append(unreadable, ClassProblem{class.Name, err.Error()})
		}
		if text := d.Storage.Ineffective(class.Parameters); text != "" {
			ineffective = append(ineffective, ClassProblem{class.Name, text})
		}
	}
	for _, volume := range volumes {
		f.volume(volume)
	}
	for _, snapshot := range snapshots {
		f.snapshot(snapshot)
	}
	for _, problems := range [][]ClassProblem{unreadable, ineffective} {
		slices.SortFunc(problems, func(a, b ClassProblem) int { return cmp.Compare(a.Class, b.Class) })
	}
	return Usage{
		Places: f.places.sorted(), Others: f.others.sorted(), Legacy: f.sortedLegacy(),
		Unreadable: unreadable, Ineffective: ineffective, Config: config,
	}
}
