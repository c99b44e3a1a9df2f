// Package condition has the conditions of this operator: their types and reasons, what parts they add up
// from, and the Board that adds them up. Those of library-go's controllers carry the controllers' names,
// which pkg/operator declares.
package condition

// Types of a ClusterCSIDriver, which Declared describes. cluster-storage-operator aggregates those with a
// suffix that it knows into ClusterOperator storage: True means that something of ours is broken, or, for
// Disabled, that the driver is not wanted here.
const (
	ConnectionDegraded = "CephConnectionDegraded"
	ResourcesDegraded  = "CephResourcesDegraded"
	ReleaseUpgradeable = "CephReleaseUpgradeable"
	StateUpgradeable   = "CephStateUpgradeable"
	// Disabled is removed, never False: cluster-storage-operator takes a False one for disabled as well.
	Disabled             = "Disabled"
	CSIDriverManaged     = "CSIDriverManaged"
	SettingsComplete     = "SettingsComplete"
	CredentialsMinted    = "CredentialsMinted"
	StorageClassesUsable = "StorageClassesUsable"
	VolumesSafe          = "VolumesSafe"
	LegacyVolumes        = "LegacyVolumes"
	InfraIDCurrent       = "InfraIDCurrent"
	// InfraIDUnshared counts for no aggregation: nothing is broken yet, and an upgrade would mend nothing.
	InfraIDUnshared       = "InfraIDUnshared"
	PresenceShown         = "PresenceShown"
	NodePodsCurrent       = "NodePodsCurrent"
	NodesServed           = "NodesServed"
	DriverRemoved         = "DriverRemoved"
	VirtualMachinesUsable = "VirtualMachinesUsable"
	ImagesProtected       = "ImagesProtected"
	KernelModulesCurrent  = "KernelModulesCurrent"
)

// Types that library-go's controllers say.
const (
	ManagementStateDegraded        = "ManagementStateDegraded"
	ConfigObservationDegraded      = "ConfigObservationDegraded"
	StorageClassControllerDegraded = "StorageClassControllerDegraded"
)

// Types that `cluster-storage` writes on Storage/cluster, beside those of
// cluster-storage-operator, whose names start with a driver's prefix.
const (
	// CRDPatchDegraded: pkg/clusterstorage finds a ClusterCSIDriver CRD that does not know Ceph.
	CRDPatchDegraded = "CephCRDPatchDegraded"
	// SharedRolesDegraded: pkg/clusterstorage misses a role that all CSI drivers share.
	SharedRolesDegraded = "CephSharedRolesDegraded"
	// InfrastructureDegraded: pkg/clusterstorage cannot keep what describes a cluster that is no OpenShift.
	InfrastructureDegraded = "CephInfrastructureDegraded"
	// ServingCertificatesDegraded: pkg/clusterstorage cannot keep the serving certificates there.
	ServingCertificatesDegraded = "CephServingCertificatesDegraded"
	// ClusterOperatorReported counts for no aggregation: pkg/clusterstorage is told to write what another one does.
	ClusterOperatorReported = "CephClusterOperatorReported"
)

// Reasons.
const (
	CRDNotPatched      = "CRDNotPatched"
	Deploying          = "Deploying"
	DriverDisabled     = "DriverDisabled"
	WaitForOperator    = "WaitForOperator"
	AsExpected         = "AsExpected"
	NoCephCluster      = "NoCephCluster"
	NoFilesystem       = "NoFilesystem"
	NoPool             = "NoPool"
	NodesNotServed     = "NodesNotServed"
	NodesNotReady      = "NodesNotReady"
	NodesLeftOut       = "NodesLeftOut"
	ForeignCSIDriver   = "ForeignCSIDriver"
	ForeignClass       = "ForeignClass"
	CredentialsMissing = "CredentialsMissing"
	CredentialsInvalid = "CredentialsInvalid"
	AccessDenied       = "AccessDenied"
	Passthrough        = "Passthrough"
	CephUnreachable    = "CephUnreachable"
	CephTooOld         = "CephTooOld"
	FormerFormat       = "FormerFormat"
	WrongCluster       = "WrongCluster"
	SeveralClusters    = "SeveralClusters"
	DuplicateCluster   = "DuplicateCluster"
	Forbidden          = "Forbidden"
	ConfigUnreadable   = "ConfigUnreadable"
	InvalidTarget      = "InvalidTarget"
	SyncError          = "SyncError"
	WaitingForObjects  = "WaitingForObjects"
	WaitingForCeph     = "WaitingForCeph"
	NoActiveMDS        = "NoActiveMDS"
	InvalidSettings    = "InvalidSettings"
	SettingsLost       = "SettingsLost"
	SettingsAnnotated  = "SettingsAnnotated"
	InfraIDChanged     = "InfraIDChanged"
	InfraIDShared      = "InfraIDShared"
	WaitingForDeletion = "WaitingForDeletion"
	WaitingForVolumes  = "WaitingForVolumes"
	Removing           = "Removing"
	Removed            = "Removed"
	PlaceMissing       = "PlaceMissing"
	MessengerProtocol  = "MessengerProtocol"
	NotProtected       = "NotProtected"
	ProtectionDisabled = "ProtectionDisabled"
	OlderVolumes       = "OlderVolumes"
	UserOverrides      = "UserOverrides"
	ForeignTag         = "ForeignTag"
	VolumeMissing      = "VolumeMissing"
	InvalidSetting     = "InvalidSetting"
	ForeignObject      = "ForeignObject"
	NotSupported       = "NotSupported"
	AdmissionRefused   = "AdmissionRefused"
	ReportedByCSO      = "ReportedByCSO"
)

// Reasons of VirtualMachinesUsable.
const (
	BackupClassSet                 = "BackupClassSet"
	CloneOverride                  = "CloneOverride"
	EncryptedClass                 = "EncryptedClass"
	MultipleDefaultSnapshotClasses = "MultipleDefaultSnapshotClasses"
	MultipleDefaultVirtClasses     = "MultipleDefaultVirtClasses"
	NullEntry                      = "NullEntry"
	ObsoleteFields                 = "ObsoleteFields"
	SnapshotClassCluster           = "SnapshotClassCluster"
	SnapshotClassDriver            = "SnapshotClassDriver"
	SnapshotClassNotFound          = "SnapshotClassNotFound"
	StorageClassInUseByImages      = "StorageClassInUseByImages"
	UnknownCloneStrategy           = "UnknownCloneStrategy"
	UnknownDriver                  = "UnknownDriver"
	UnknownSourceFormat            = "UnknownSourceFormat"
	UnusableClaimSet               = "UnusableClaimSet"
)
