// Package condition declares the condition types and reasons that this operator's own
// controllers write on ClusterCSIDriver. Those of library-go's controllers carry the
// controllers' names, which pkg/operator declares.
package condition

import (
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	applyoperatorv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
)

// Types that cluster-storage-operator aggregates into ClusterOperator storage (it matches
// them by suffix): True means that something of ours is broken, or, for Disabled, that the
// driver is not wanted here.
const (
	// ConnectionDegraded: pkg/connection cannot use the Ceph cluster that was declared.
	ConnectionDegraded = "CephConnectionDegraded"
	// MonitorsDegraded: pkg/monitors cannot keep the config.json Secret.
	MonitorsDegraded = "CephMonitorsDegraded"
	// CredentialsDegraded: pkg/credentials cannot keep the cephx Secrets.
	CredentialsDegraded = "CephCredentialsDegraded"
	// PoolsDegraded: pkg/pools has no place for the default StorageClass.
	PoolsDegraded = "CephPoolsDegraded"
	// SettingsDegraded: pkg/settings found a setting that is not allowed; otherwise it is absent.
	SettingsDegraded = "CephSettingsDegraded"
	// SnapshotClassesDegraded: pkg/classes cannot keep the snapshot classes.
	SnapshotClassesDegraded = "CephSnapshotClassesDegraded"
	// ReleaseUpgradeable is False while the next version does not work with a Ceph cluster's release;
	// otherwise it is absent.
	ReleaseUpgradeable = "CephReleaseUpgradeable"
	// ManagementStateDegraded: library-go finds a management state that is not supported.
	ManagementStateDegraded = "ManagementStateDegraded"
	// Disabled: pkg/gate keeps the driver from being deployed. It is removed, never False:
	// cluster-storage-operator takes a False one for disabled as well.
	Disabled = "Disabled"
)

// Types that no aggregation counts.
const (
	// StorageClassesUsable is False when a class of the driver's name belongs to somebody else
	// or a user's StorageClass cannot work.
	StorageClassesUsable = "StorageClassesUsable"
	// SnapshotClassesUsable is False when a snapshot class of the driver's name belongs to
	// somebody else.
	SnapshotClassesUsable = "SnapshotClassesUsable"
	// SourcesUsed is False when two declarations lead to the same Ceph cluster, or when one cannot be used that
	// adds a Ceph cluster to the one of the default classes.
	SourcesUsed = "CephSourcesUsed"
	// OutOfBandCurrent is False when mons in somebody else's object cannot be kept current.
	OutOfBandCurrent = "OutOfBandCurrent"
	// CSIDriverManaged is False when the CSIDriver belongs to somebody else while our workloads
	// run; otherwise it is absent.
	CSIDriverManaged = "CSIDriverManaged"
	// SettingsComplete is False while a stock CRD keeps the settings from the ClusterCSIDriver's
	// spec, and its annotation has them; otherwise it is absent.
	SettingsComplete = "SettingsComplete"
	// InfraIDCurrent is False while Infrastructure cluster says another infra ID than the one in
	// use; otherwise it is absent.
	InfraIDCurrent = "InfraIDCurrent"
	// InfraIDUnshared is False while the operator of another cluster with the same infra ID runs;
	// otherwise it is absent. Nothing is broken yet, and an upgrade would mend nothing: so it counts for
	// no aggregation.
	InfraIDUnshared = "InfraIDUnshared"
	// PresenceShown is False while the operator cannot show in Ceph that the cluster lives; otherwise it
	// is absent.
	PresenceShown = "PresenceShown"
	// PoolsProtected is False while pools in use can be removed from Ceph.
	PoolsProtected = "PoolsProtected"
	// VolumePlacesPresent is False when a pool or filesystem that volumes are in is gone.
	VolumePlacesPresent = "VolumePlacesPresent"
	// LegacyVolumes is True while there are volumes from before CSI; otherwise it is absent.
	LegacyVolumes = "LegacyVolumes"
	// VolumesTagged is False while volumes do not say that they belong to this cluster.
	VolumesTagged = "VolumesTagged"
	// CredentialsMinted is False when the driver works as the operator's own Ceph user, True when
	// the operator made users for it.
	CredentialsMinted = "CredentialsMinted"
	// StorageProfilesCurrent is False while a StorageProfile of CDI has other values than the
	// operator's; without CDI it is absent.
	StorageProfilesCurrent = "StorageProfilesCurrent"
	// VirtualizationClassCurrent is False while the StorageClass for virtual machines cannot be
	// kept; otherwise it is absent.
	VirtualizationClassCurrent = "VirtualizationClassCurrent"
	// HarvesterSettingsCurrent is False while a setting of Harvester has another entry for the
	// driver than the operator's, or cannot be read; without Harvester it is absent.
	HarvesterSettingsCurrent = "HarvesterSettingsCurrent"
	// HarvesterClassesCurrent is False while an annotation of a StorageClass that Harvester reads
	// is somebody else's; without Harvester it is absent.
	HarvesterClassesCurrent = "HarvesterClassesCurrent"
	// VirtualMachinesUsable is False while something keeps disks of virtual machines from
	// working; without CDI and Harvester it is absent.
	VirtualMachinesUsable = "VirtualMachinesUsable"
	// ImagesProtected is False while volumes of disk images cannot be kept from removal; it is
	// absent where nobody asked for that.
	ImagesProtected = "ImagesProtected"
	// KernelModulesCurrent is False while nodes cannot be made to load the kernel's modules when
	// they start; it is absent where nobody asked for that.
	KernelModulesCurrent = "KernelModulesCurrent"
	// NodePodsCurrent is False while node pods wait for an administrator to delete them.
	NodePodsCurrent = "NodePodsCurrent"
	// DriverRemoved is True while the driver is off the cluster because managementState is Removed, and
	// False while something keeps it from that; it is absent in every other state.
	DriverRemoved = "DriverRemoved"
	// NodesServed is False while there are nodes that cannot mount volumes, and True while settings
	// leave nodes without the driver; otherwise it is absent.
	NodesServed = "NodesServed"
)

// Informational returns the types that no aggregation counts.
func Informational() []string {
	return []string{
		StorageClassesUsable, SnapshotClassesUsable, SourcesUsed, OutOfBandCurrent, CSIDriverManaged, SettingsComplete,
		InfraIDCurrent, InfraIDUnshared, PresenceShown, PoolsProtected, VolumePlacesPresent, LegacyVolumes, VolumesTagged,
		CredentialsMinted, StorageProfilesCurrent, VirtualizationClassCurrent, HarvesterSettingsCurrent,
		HarvesterClassesCurrent, VirtualMachinesUsable, ImagesProtected, KernelModulesCurrent, NodePodsCurrent, DriverRemoved, NodesServed,
	}
}

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

// maxMessage is the length, in bytes, at which messages are cut, and ellipsis their new end.
const (
	maxMessage = 4096
	ellipsis   = '…'
)

// New builds a condition for ApplyOperatorStatus. A message that is too long, because what it
// quotes is, loses its end.
func New(conditionType string, status operatorv1.ConditionStatus, reason, message string) *applyoperatorv1.OperatorConditionApplyConfiguration {
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + string(ellipsis)
	}
	return applyoperatorv1.OperatorCondition().
		WithType(conditionType).WithStatus(status).WithReason(reason).WithMessage(message)
}

// Good is the quiet state of a Degraded type.
func Good(conditionType string) *applyoperatorv1.OperatorConditionApplyConfiguration {
	return New(conditionType, operatorv1.ConditionFalse, AsExpected, "")
}
