package condition

// Parts are what controllers say and a Board adds up to one of the types: with ResourcesDegraded's, True is
// bad, with the others', False.
const (
	// MonitorsDegraded: pkg/monitors cannot keep the config.json Secret.
	MonitorsDegraded = "CephMonitorsDegraded"
	// CredentialsDegraded: pkg/credentials cannot keep the cephx Secrets.
	CredentialsDegraded = "CephCredentialsDegraded"
	// PoolsDegraded: pkg/pools has no place for the default StorageClass.
	PoolsDegraded = "CephPoolsDegraded"
	// SettingsDegraded: pkg/settings found a setting that is not allowed.
	SettingsDegraded = "CephSettingsDegraded"
	// NodesDegraded: no node at all can mount volumes.
	NodesDegraded = "CephNodesDegraded"
	// SnapshotClassesDegraded: pkg/classes cannot keep the snapshot classes.
	SnapshotClassesDegraded = "CephSnapshotClassesDegraded"

	// ClassesUsable: a class of the driver's name is somebody else's, or a user's StorageClass cannot work.
	ClassesUsable = "ClassesUsable"
	// SnapshotClassesUsable: a snapshot class of the driver's name is somebody else's, or one names a Secret that may not be read.
	SnapshotClassesUsable = "SnapshotClassesUsable"
	// OutOfBandCurrent: mons in somebody else's object cannot be kept current.
	OutOfBandCurrent = "OutOfBandCurrent"
	// SourcesUsed: two declarations lead to the same Ceph cluster, or one cannot be used that adds a Ceph
	// cluster to the one of the default classes.
	SourcesUsed = "CephSourcesUsed"

	// PoolsProtected: pools in use can be removed from Ceph.
	PoolsProtected = "PoolsProtected"
	// VolumePlacesPresent: a pool or filesystem that volumes are in is gone, or ceph-csi looks for them elsewhere.
	VolumePlacesPresent = "VolumePlacesPresent"
	// VolumesTagged: volumes do not say that they belong to this cluster, or are in no journal in which ceph-csi looks for them.
	VolumesTagged = "VolumesTagged"

	// MachinesUsable: something keeps disks of virtual machines from working.
	MachinesUsable = "MachinesUsable"
	// StorageProfilesCurrent: a StorageProfile of CDI has other values than the operator's.
	StorageProfilesCurrent = "StorageProfilesCurrent"
	// VirtualizationClassCurrent: the StorageClass for virtual machines cannot be kept.
	VirtualizationClassCurrent = "VirtualizationClassCurrent"
	// HarvesterSettingsCurrent: a setting of Harvester has another entry for the driver than the operator's,
	// or cannot be read.
	HarvesterSettingsCurrent = "HarvesterSettingsCurrent"
	// HarvesterClassesCurrent: an annotation of a StorageClass that Harvester reads is somebody else's.
	HarvesterClassesCurrent = "HarvesterClassesCurrent"
)
