package condition

import (
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
)

// Declaration is a condition of a ClusterCSIDriver that this operator's own controllers say.
type Declaration struct {
	Type string
	// Parts add up to it, in the order of its lines. Without any, a controller says it as it is.
	Parts []string
	// Says is what it tells, and Absent when it is not there, in README.md; it always is where Absent is empty.
	Says, Absent string
}

// Declared has all of them, in the order of README.md: those first that count.
var Declared = []Declaration{
	{Type: ConnectionDegraded, Says: "True: the Ceph cluster of the default classes cannot be used, or nobody has said which one it is"},
	{
		Type:  ResourcesDegraded,
		Parts: []string{SettingsDegraded, MonitorsDegraded, CredentialsDegraded, PoolsDegraded, SnapshotClassesDegraded, NodesDegraded},
		Says: "True: a field of `spec.driverConfig.ceph` is not allowed, the Secret with the mon addresses, the driver's Ceph users or the Secrets with them " +
			"cannot be kept, there is no place for the volumes of the default StorageClass, the snapshot classes cannot be kept, or no node at all can mount volumes; a line for each",
	},
	{
		Type: ReleaseUpgradeable, Absent: "otherwise",
		Says: "False: the next version of the operator does not work with the release of a Ceph cluster, or has not heard since that it is a newer one; ClusterOperator `storage` has `Upgradeable` False then",
	},
	{
		Type: StateUpgradeable, Absent: "otherwise",
		Says: "False: the state ConfigMap has records as an earlier version wrote them, which the next one need not know, and the driver is not `Managed`, " +
			"so that this one may not write them anew; ClusterOperator `storage` has `Upgradeable` False then",
	},
	{
		Type: StorageClassesUsable, Parts: []string{ClassesUsable, SnapshotClassesUsable, SourcesUsed, OutOfBandCurrent},
		Says: "False: a StorageClass or snapshot class of our name is somebody else's; a StorageClass names what the Ceph cluster lacks, chooses pools by topology, " +
			"without which the driver runs, or has nodes speak another messenger protocol than its mons; " +
			"a class or volume names a Secret of another namespace, which the driver's controllers may not read; " +
			"two declarations lead to the same Ceph cluster, of which the first is used, or one of a further Ceph cluster cannot be used; " +
			"mons in a ConfigMap of `ceph.outOfBand`, or in a Secret of `monValueFromSecret`, cannot be kept current; a line for each",
	},
	{
		Type: VolumesSafe, Parts: []string{PoolsProtected, VolumePlacesPresent, VolumesTagged},
		Says: "False: pools in use can be removed from Ceph; a pool or filesystem that volumes are in is gone, or ceph-csi looks for them in another subvolume group or journal; " +
			"volumes or snapshots do not say, or cannot say, that they are this cluster's, see [Tags of volumes](../tags/README.md); a line for each",
	},
	{Type: Disabled, Says: "True: the driver is not deployed, on purpose", Absent: "otherwise"},
	{Type: CSIDriverManaged, Says: "False: the CSIDriver is somebody else's while our pods run", Absent: "otherwise"},
	{
		Type: CredentialsMinted, Absent: "where the driver works as Ceph users of its own, of which there is nothing to say",
		Says: "False: the driver works as the user of `ceph-credentials`. True: it works as Ceph users of its own, which lack rights to something, " +
			"or whose keys nodes or the driver may not know",
	},
	{
		Type: SettingsComplete, Absent: "otherwise",
		Says: "False: a CRD without the settings was put back; those of the annotation `storage.openshift.io/ceph-settings` are in force",
	},
	{Type: LegacyVolumes, Says: "True: there are in-tree or flexVolume volumes of Ceph", Absent: "otherwise"},
	{
		Type: InfraIDCurrent, Absent: "otherwise",
		Says: "False: `Infrastructure/cluster` says another infra ID than the one that this cluster's volumes, users and pools carry in Ceph; " +
			"the operator goes on with the one it remembers",
	},
	{
		Type: InfraIDUnshared, Absent: "otherwise",
		Says: "False: the operator of another cluster with the same infra ID works with the same Ceph cluster, for two minutes at least; " +
			"the message has its host and address",
	},
	{
		Type: PresenceShown, Absent: "otherwise",
		Says: "False: the operator may not show in a pool that it runs, so that a [teardown](../teardown/README.md) would not see there that this cluster lives",
	},
	{Type: NodePodsCurrent, Says: "False: node pods are outdated and wait for you to delete them", Absent: "otherwise"},
	{
		Type: DriverRemoved, Absent: "otherwise",
		Says: "True: the driver is [off the cluster](../removal/README.md), because `spec.managementState` is `Removed`. " +
			"False: something keeps it there, and how much",
	},
	{
		Type: NodesServed, Absent: "otherwise",
		Says: "False: nodes have been unable to mount volumes for a minute, or were until half a minute ago: they have no ready node pod, or their kubelet does not know the driver; " +
			"the message names the first five, and why. True: `ceph.node` [leaves nodes out](../nodes/README.md), which the message names",
	},
	{
		Type: VirtualMachinesUsable, Absent: "without CDI and Harvester",
		Parts: []string{MachinesUsable, StorageProfilesCurrent, VirtualizationClassCurrent, HarvesterSettingsCurrent, HarvesterClassesCurrent},
		Says: "False: something keeps disks of [virtual machines](../virtualization/README.md) from working, each thing is an event, too; " +
			"a StorageProfile of CDI has a value that the operator would not have chosen; the StorageClass for virtual machines is somebody else's or cannot be kept; " +
			"a setting of Harvester has another entry for the driver, none, or cannot be read; " +
			"an annotation that Harvester reads from a StorageClass is somebody else's; a line for each",
	},
	{
		Type: ImagesProtected, Absent: "without that setting",
		Says: "False: volumes of disk images can be deleted although `ceph.imageProtection` is `Enabled`",
	},
	{
		Type: KernelModulesCurrent, Absent: "without that setting",
		Says: "False: nodes cannot be made to load modules when they start, although `ceph.kernelModules` is `AtBoot`",
	},
}

// Types are those of all declarations.
func Types() []string {
	var out []string
	for _, d := range Declared {
		out = append(out, d.Type)
	}
	return out
}

// Counted says whether cluster-storage-operator counts a type.
func Counted(conditionType string) bool {
	return slices.ContainsFunc([]string{
		operatorv1.OperatorStatusTypeAvailable, operatorv1.OperatorStatusTypeProgressing,
		operatorv1.OperatorStatusTypeDegraded, operatorv1.OperatorStatusTypeUpgradeable,
	}, func(suffix string) bool { return strings.HasSuffix(conditionType, suffix) })
}

// tables are the declarations as README.md has them.
func tables() string {
	count, inform := "| Condition | Says |\n|---|---|\n", "| Condition | Says | It is absent |\n|---|---|---|\n"
	for _, d := range Declared {
		if !Counted(d.Type) {
			inform += fmt.Sprintf("| `%s` | %s | %s |\n", d.Type, d.Says, d.Absent)
			continue
		}
		says := d.Says
		if d.Absent != "" {
			says += ". Otherwise it is absent"
		}
		count += fmt.Sprintf("| `%s` | %s |\n", d.Type, says)
	}
	return "These count in ClusterOperator `storage`:\n\n" + count +
		"\nThese are for information only:\n\n" + inform
}
