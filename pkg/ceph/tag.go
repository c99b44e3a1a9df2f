package ceph

import "cmp"

// The keys under which a volume or snapshot says whose it is: RBD image metadata, CephFS
// subvolume metadata and CephFS subvolume snapshot metadata have the same.
//
// ceph-csi writes all but those of storage.openshift.io: internal/util/k8s/parameters.go has the names of
// Kubernetes' objects, internal/rbd/rbd_util.go and internal/cephfs/core/metadata.go that
// of the cluster. The values are plain text.
const (
	// TagCluster has the infrastructure name of the Kubernetes cluster that a volume or
	// snapshot belongs to, which is ceph-csi's --clustername. It is never a Ceph cluster's fsid.
	TagCluster = "csi.ceph.com/cluster/name"

	// TagOwner is this operator's own, and says the same of subvolumes and their snapshots: ceph-csi 3.16 and later take
	// TagCluster away, whoever it names, when they detach a volume (UnsetAllMetadata in internal/cephfs/core/metadata.go).
	TagOwner = "storage.openshift.io/cluster"

	// TagPV, TagPVC and TagPVCNamespace are on volumes alone: the PersistentVolume and the
	// claim for which it was made. A later binding to another claim does not change them.
	TagPV           = "csi.storage.k8s.io/pv/name"
	TagPVC          = "csi.storage.k8s.io/pvc/name"
	TagPVCNamespace = "csi.storage.k8s.io/pvc/namespace"

	// TagSnapshot, TagSnapshotNamespace and TagSnapshotContent are on snapshots: the VolumeSnapshot
	// and the VolumeSnapshotContent for which it was made. ceph-csi that is asked twice for the same
	// snapshot of an image writes them onto the volume, too, and clones of that inherit them.
	TagSnapshot          = "csi.storage.k8s.io/volumesnapshot/name"
	TagSnapshotNamespace = "csi.storage.k8s.io/volumesnapshot/namespace"
	TagSnapshotContent   = "csi.storage.k8s.io/volumesnapshotcontent/name"

	// TagRetain is this operator's own: "true" on a volume whose PersistentVolume has the
	// reclaim policy Retain, which a teardown keeps unless it is told otherwise.
	TagRetain = "storage.openshift.io/retain"

	// TagRetainOf has the UUID of the volume or snapshot that TagRetain was set on. Copies and clones
	// inherit both; older operators set TagRetain alone.
	TagRetainOf = "storage.openshift.io/retain-of"
)

// Owner is the cluster whose tag a volume or snapshot has; empty where it has none. TagOwner counts for more: an operator that does not
// know it may have tagged what ceph-csi had just taken the other's name from.
func Owner(metadata map[string]string) string {
	return cmp.Or(metadata[TagOwner], metadata[TagCluster])
}

// TagRetainShown is the mark, on a snapshot of CephFS, of a volume with this UUID that shows it and that is
// to outlive the cluster: such a volume has nothing of its own to be marked.
func TagRetainShown(uuid string) string { return "storage.openshift.io/retain-shown." + uuid }

// RetainMark is the value of TagRetain and TagRetainShown. A volume that may go with its cluster lacks the key.
const RetainMark = "true"

// Retained says that metadata has the mark, and that it is that of the volume or snapshot of the name,
// not of what it is a copy of. A temporary image belongs to its volume and never has one of its own.
func Retained(metadata map[string]string, name CSIName) bool {
	of, said := metadata[TagRetainOf]
	return metadata[TagRetain] == RetainMark && !name.Temporary && (!said || of == name.UUID)
}
