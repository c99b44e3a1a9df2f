// Package driver declares the two CSI drivers as data. What differs in behaviour stands
// behind Storage; nothing else in the tree asks which driver it is.
package driver

import (
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// Namespace holds everything that the operator deploys or reads.
const Namespace = "openshift-cluster-csi-drivers"

// Program is the name of this program. Requests carry it as their user agent, whatever the
// program's file is called: the API server takes it for the field manager of what is not applied
// under another name.
const Program = "ceph-csi-driver-operator"

// CredentialsSecret is the Secret that declares the Ceph cluster.
const CredentialsSecret = "ceph-credentials"

// Declare is the command that makes it of the files of the README, with the tool that administrators have.
func Declare(tool string) string {
	return tool + " create secret generic " + CredentialsSecret + " -n " + Namespace + " --from-file=ceph.conf --from-file=keyring"
}

// ClusterLabel marks the Secrets that declare further Ceph clusters.
const ClusterLabel = "storage.openshift.io/ceph-cluster"

const (
	rbdName    = "rbd.csi.ceph.com"
	cephFSName = "cephfs.csi.ceph.com"
)

// Driver is one CSI driver of ceph-csi.
type Driver struct {
	// Name is the name of the CSI driver, of the CSIDriver and of the ClusterCSIDriver.
	Name string
	// Names are those that drivers of ceph-csi have, behind a prefix of their deployment, whose volumes
	// are like this one's.
	Names []string
	// Kind is the value of --driver, the folder of the driver's assets and a part of the
	// names of its objects.
	Kind string
	// ConditionPrefix starts the names of the driver's controllers and conditions.
	ConditionPrefix string
	// StorageClass is the name of the default StorageClass.
	StorageClass string
	// SnapshotClass is the name of the VolumeSnapshotClass and VolumeGroupSnapshotClass.
	SnapshotClass string
	// GroupSnapshots is the minor release of ceph-csi 3 that began to offer group snapshots.
	GroupSnapshots int
	// QuiescesGroups says that ceph-csi needs a Ceph for them that has clients hold still.
	QuiescesGroups bool
	// NeedsFilesystem says that the driver is of no use to a Ceph cluster without CephFS.
	NeedsFilesystem bool
	// UnsafeReads are the releases of Ceph with which reads from the nearest replica lose data.
	UnsafeReads []string
	// PicksMons says that the client of the kernel takes, of the mons listed, the addresses of the protocol that it is told to
	// speak, as rbd map does (build_map_buf, src/krbd.cc of Ceph); mount.ceph takes all.
	PicksMons bool
	// KernelOptions is the parameter of a StorageClass, and the field of the settings, with options for the kernel of
	// a node.
	KernelOptions string
	// Storage finds or makes the place of the driver's volumes.
	Storage Storage
	// Tagging reads and changes the tags of the driver's volumes, TagsPerSecond at most: of images
	// so many that a busy OSD does not notice, each costs three reads of a few bytes; of
	// subvolumes fewer, because the mgr does one thing after the other for all its clients, and
	// needs about 2 ms for each.
	Tagging       Tagging
	TagsPerSecond int
	// DetachUntags says that ceph-csi takes the cluster's name from the tags of a volume when it detaches it, as
	// 3.16 and later do with subvolumes, together with what they note of the mount (UnsetAllMetadata in
	// internal/cephfs/core/metadata.go).
	DetachUntags bool
	// Fields are the settings that the driver's ClusterCSIDriver takes, Rules what they have to
	// have in common.
	Fields []Field
	Rules  []Rule
	// Rights tells the caps of the users that the operator makes for the driver.
	Rights Rights
	// Modules are those of the kernel that mounting volumes takes.
	Modules []string
	// Virtualization is how volumes of the driver serve as disks of virtual machines.
	Virtualization Virtualization
}

// RBD provides block volumes.
var RBD = Driver{
	Name:            rbdName,
	Names:           []string{rbdName, "nvmeof.csi.ceph.com"},
	Kind:            "rbd",
	ConditionPrefix: "CephRBD",
	StorageClass:    "ceph-rbd",
	SnapshotClass:   "csi-ceph-rbd-vsc",
	GroupSnapshots:  13,
	PicksMons:       true,
	KernelOptions:   mapOptionsParameter,
	Storage:         images{},
	Tagging:         images{},
	TagsPerSecond:   50,
	Fields:          slices.Concat(commonFields, imageFields),
	Rules:           imageRules,
	Rights:          images{},
	Modules:         []string{"rbd", "nbd"},
	Virtualization:  imagesAsDisks,
}

// CephFS provides file volumes.
var CephFS = Driver{
	Name:            cephFSName,
	Names:           []string{cephFSName, "nfs.csi.ceph.com"},
	Kind:            "cephfs",
	ConditionPrefix: "CephFS",
	StorageClass:    "ceph-cephfs",
	SnapshotClass:   "csi-ceph-cephfs-vsc",
	GroupSnapshots:  11,
	QuiescesGroups:  true,
	NeedsFilesystem: true,
	UnsafeReads:     []string{"20.2.0"},
	KernelOptions:   kernelMountOptionsParameter,
	Storage:         subvolumes{},
	Tagging:         subvolumes{},
	TagsPerSecond:   20,
	DetachUntags:    true,
	Fields:          slices.Concat(commonFields, subvolumeFields),
	Rights:          subvolumes{},
	Modules:         []string{"ceph"},
	Virtualization:  subvolumesAsDisks,
}

// All are the drivers that `start --driver` accepts.
var All = []Driver{RBD, CephFS}

// Kinds are those of all drivers, whichever are installed.
func Kinds() []string {
	var out []string
	for _, d := range All {
		out = append(out, d.Kind)
	}
	return out
}

// OperatorName names the operator's Deployment, ServiceAccount, leases and log component.
func (d Driver) OperatorName() string { return "ceph-" + d.Kind + "-csi-driver-operator" }

// FieldManager is that of what one of the operator's controllers applies.
func (d Driver) FieldManager(controller string) string { return d.OperatorName() + "-" + controller }

// ElsewhereRole names the ClusterRole that allows the operator what it needs in a namespace
// which an administrator tells it of. Nothing binds it.
func (d Driver) ElsewhereRole() string { return d.OperatorName() + "-elsewhere" }

// RookRole names the ClusterRole that allows the operator to read what Rook tells of a Ceph cluster.
// Nothing binds it.
func (d Driver) RookRole() string { return d.OperatorName() + "-rook" }

// ImagesRole names the ClusterRole, and its binding, that the operator has while it protects disk images.
func (d Driver) ImagesRole() string { return d.OperatorName() + "-images" }

// MachinesRole names the ClusterRole, and its binding, that the operator has while there is a platform for
// virtual machines.
func (d Driver) MachinesRole() string { return d.OperatorName() + "-machines" }

// ModulesRole names the ClusterRole, and its binding, that the operator has while it has nodes load the
// kernel's modules when they start.
func (d Driver) ModulesRole() string { return d.OperatorName() + "-modules" }

// AllowElsewhere is the command that binds ElsewhereRole in a namespace.
func (d Driver) AllowElsewhere(namespace string) string {
	return allow(d.OperatorName(), d.ElsewhereRole(), namespace, d.OperatorName())
}

// AllowRook is the command that binds RookRole in a namespace.
func (d Driver) AllowRook(namespace string) string {
	return allow(d.RookRole(), d.RookRole(), namespace, d.OperatorName())
}

// AllowSecrets is the command that lets the controllers' sidecars read Secrets in a namespace.
func (d Driver) AllowSecrets(namespace string) string {
	return allow("ceph-"+d.Kind+"-secrets", "openshift-csi-provisioner-configmap-and-secret-reader-role", namespace, d.ControllerName()+"-sa")
}

func allow(binding, role, namespace, account string) string {
	return "oc create rolebinding " + binding + " -n " + shell.Quote(namespace) + " --clusterrole=" + role + " --serviceaccount=" + Namespace + ":" + account
}

// ControllerName names the controller Deployment.
func (d Driver) ControllerName() string { return "ceph-" + d.Kind + "-csi-driver-controller" }

// NodeName names the node DaemonSet.
func (d Driver) NodeName() string { return "ceph-" + d.Kind + "-csi-driver-node" }

// ProvisionerLease names the Lease for which the provisioners of both controllers' pods ask: the driver's name,
// as sidecars write it there.
func (d Driver) ProvisionerLease() string { return strings.ReplaceAll(d.Name, ".", "-") }

// SidecarLeases names all Leases for which sidecars of the controllers ask. They make up these names themselves;
// the snapshotter has one for snapshots and groups of them, and the resizer one for growing and modifying volumes.
func (d Driver) SidecarLeases() []string {
	lease := d.ProvisionerLease()
	return []string{lease, "external-attacher-leader-" + lease, "external-resizer-" + lease, "external-snapshotter-leader-" + lease}
}

// ConfigSecret names the Secret with config.json, the mon addresses that pods mount.
func (d Driver) ConfigSecret() string { return "ceph-" + d.Kind + "-csi-config" }

// ProvisionerSecret names the Secret with the cephx user of the controllers.
func (d Driver) ProvisionerSecret() string { return "ceph-" + d.Kind + "-csi-provisioner" }

// NodeSecret names the Secret with the cephx user of the nodes.
func (d Driver) NodeSecret() string { return "ceph-" + d.Kind + "-csi-node" }

// MetricsCertSecret names the Secret with the serving certificate of kube-rbac-proxy.
func (d Driver) MetricsCertSecret() string {
	return "ceph-" + d.Kind + "-csi-driver-controller-metrics-serving-cert"
}

// ServingCertSecret names the Secret with the serving certificate of the operator.
func (d Driver) ServingCertSecret() string { return d.OperatorName() + "-serving-cert" }

// PrometheusRule names the object with the driver's alerts.
func (d Driver) PrometheusRule() string { return "ceph-" + d.Kind + "-csi-driver-alerts" }

// ServiceMonitor names the object that has Prometheus scrape the controllers.
func (d Driver) ServiceMonitor() string { return d.ControllerName() + "-monitor" }

// TrustedCAConfigMap names the ConfigMap into which the cluster's CA bundle is injected.
func (d Driver) TrustedCAConfigMap() string {
	return "ceph-" + d.Kind + "-csi-driver-trusted-ca-bundle"
}

// StateConfigMap names the ConfigMap of what must outlive the process.
func (d Driver) StateConfigMap() string { return "ceph-" + d.Kind + "-csi-driver-state" }

// StatusConfigMap names the ConfigMap that tells people what the operator knows.
func (d Driver) StatusConfigMap() string { return "ceph-" + d.Kind + "-csi-driver-status" }

// ProvisionerUser names the cephx user, without "client.", that the operator makes for the
// controllers of the OpenShift cluster with this infra ID: several may share a Ceph cluster.
func (d Driver) ProvisionerUser(infraID string) string {
	return "csi-" + d.Kind + "-provisioner." + infraID
}

// NodeUser names the cephx user that the operator makes for the nodes.
func (d Driver) NodeUser(infraID string) string { return "csi-" + d.Kind + "-node." + infraID }
