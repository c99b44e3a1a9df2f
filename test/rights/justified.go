package rights

import (
	"maps"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	repair = "a change by hand is taken back, and a new version's manifest replaces an old one's"
	anew   = "what cannot be changed in place is deleted and created anew"
	scrape = "the operator asks who scrapes it, when somebody does"
	notice = "events about StorageClasses, which have no namespace"
	again  = "a write that met somebody else's is made again with what is there now"
	cdi    = "StorageProfiles are there where KubeVirt's importer is installed"
	hci    = "settings, and annotations of StorageClasses, that Harvester reads where it is installed"
	images = "the API server asks it of whoever writes a policy about images; their StorageClasses cannot be replaced"
	asked  = "an administrator asks for it, maybe for one driver only"
	fresh  = "a volume is looked at anew before anything is written about it in Ceph"
	named  = "the API server asks it, with the name, of whoever applies what is not there"
	served = "serving certificates and their CA are rewritten when they end, or somebody has damaged them, where OpenShift does not make them"
	leased = "a driver's removal looks for the Leases of its sidecars, which pods of fake nodes do not make, and deletes them"
	former = "a former version has made them: the suite that upgrades from one is skipped without the repository's history"
	listed = "spec.driverConfig.ceph.outOfBand, rookNamespace and monValueFromSecret, which a suite may use with one driver only"
)

const harvester = "harvesterhci.io/settings:csi-driver-config harvesterhci.io/settings:csi-online-expand-validation"

// ofOperator are rights that the operators need, although it depends on a suite's course whether
// it uses them.
var ofOperator = justified(
	reason{scrape, Cluster, "create", "authorization.k8s.io/subjectaccessreviews"},
	reason{notice, Cluster, "create", "/events"},
	reason{cdi, Cluster, "list", "cdi.kubevirt.io/storageprofiles"},
	reason{cdi, Cluster, "watch", "cdi.kubevirt.io/storageprofiles"},
	reason{cdi, Cluster, "patch", "cdi.kubevirt.io/storageprofiles"},
	reason{hci, Cluster, "list", harvester},
	reason{hci, Cluster, "watch", harvester},
	reason{hci, Cluster, "update", harvester},
	reason{hci, Cluster, "patch", "storage.k8s.io/storageclasses"},
	reason{images, Cluster, "get", "harvesterhci.io/virtualmachineimages cdi.kubevirt.io/dataimportcrons cdi.kubevirt.io/datasources"},
	reason{images, Cluster, "list", "harvesterhci.io/virtualmachineimages cdi.kubevirt.io/dataimportcrons cdi.kubevirt.io/datasources"},
	reason{images, Cluster, "watch", "harvesterhci.io/virtualmachineimages"},
	reason{asked, Cluster, "list", "admissionregistration.k8s.io/validatingadmissionpolicies admissionregistration.k8s.io/validatingadmissionpolicybindings"},
	reason{asked, Cluster, "watch", "admissionregistration.k8s.io/validatingadmissionpolicies admissionregistration.k8s.io/validatingadmissionpolicybindings"},
	reason{fresh, Cluster, "get", "/persistentvolumes"},
	reason{again, Cluster, "get", "operator.openshift.io/clustercsidrivers"},
	reason{listed, Elsewhere, "get", "/configmaps /secrets /configmaps:rook-ceph-mon-endpoints /secrets:rook-ceph-mon"},
	reason{listed, Elsewhere, "update", "/configmaps /secrets"},
)

// ofOperands are the roles and bindings of the drivers' pods.
const ofOperands = "rbac.authorization.k8s.io/clusterroles:ceph-KIND-csi-driver-controller-role rbac.authorization.k8s.io/clusterroles:ceph-KIND-csi-driver-node-role " +
	"rbac.authorization.k8s.io/clusterroles:ceph-KIND-kube-rbac-proxy-role rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-csi-driver-controller-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-csi-driver-node-binding rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-kube-rbac-proxy-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-main-attacher-binding rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-main-provisioner-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-main-resizer-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-provisioner-volumeattachment-reader-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-provisioner-volumesnapshot-reader-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-resizer-storageclass-reader-binding"

// ofModified are the bindings of the pods of a driver whose volumes can be modified.
const ofModified = "rbac.authorization.k8s.io/clusterrolebindings:ceph-rbd-provisioner-volumeattributesclass-reader-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-rbd-resizer-volumeattributesclass-reader-binding"

// ofFormer are bindings of the pods that a former version made.
const ofFormer = "rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-main-snapshotter-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-provisioner-configmap-and-secret-reader-binding"

// ofNamespace is what an operator applies in the namespace, but for the workloads.
const ofNamespace = "/configmaps:ceph-KIND-csi-driver-trusted-ca-bundle /serviceaccounts:ceph-KIND-csi-driver-controller-sa /serviceaccounts:ceph-KIND-csi-driver-node-sa " +
	"/services:ceph-KIND-csi-driver-controller-metrics policy/poddisruptionbudgets:ceph-KIND-csi-driver-controller-pdb " +
	"monitoring.coreos.com/prometheusrules:ceph-KIND-csi-driver-alerts monitoring.coreos.com/servicemonitors:ceph-KIND-csi-driver-controller-monitor " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-lease-leader-election rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-lease-leader-election " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-node-role rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-node-role " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-privileged rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-privileged " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-prometheus rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-prometheus " +
	"rbac.authorization.k8s.io/rolebindings:ceph-KIND-provisioner-configmap-and-secret-reader-binding"

// ofDriver are those of a driver's operator, on objects that it names itself.
func ofDriver(d driver.Driver) map[Right]string {
	out := maps.Clone(ofOperator)
	objects := "storage.k8s.io/csidrivers:" + d.Name + " storage.k8s.io/storageclasses:" + d.StorageClass +
		" snapshot.storage.k8s.io/volumesnapshotclasses:" + d.SnapshotClass + " groupsnapshot.storage.k8s.io/volumegroupsnapshotclasses:" + d.SnapshotClass
	if class := d.Virtualization.Class; class != "" {
		objects += " storage.k8s.io/storageclasses:" + class
	}
	maps.Copy(out, justified(reason{repair, Cluster, "update", objects + " " + strings.ReplaceAll(ofOperands, "KIND", d.Kind)}, reason{anew, Cluster, "delete", objects},
		reason{repair, Namespace, "update", strings.ReplaceAll(ofNamespace, "KIND", d.Kind)}, reason{former, Cluster, "delete", strings.ReplaceAll(ofFormer, "KIND", d.Kind)}))
	if d.Kind == driver.RBD.Kind {
		maps.Copy(out, justified(reason{repair, Cluster, "update", ofModified}))
	} else {
		maps.Copy(out, justified(reason{former, Cluster, "delete", strings.ReplaceAll(ofModified, "rbd", d.Kind)}))
	}
	for _, name := range d.SidecarLeases() {
		lease := "coordination.k8s.io/leases:" + name
		maps.Copy(out, justified(reason{leased, Namespace, "list", lease}, reason{leased, Namespace, "delete", lease}))
	}
	for _, verb := range []string{"update", "delete"} {
		maps.Copy(out, justified(reason{asked, Cluster, verb, strings.ReplaceAll("rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-csi-driver-operator-images "+
			"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-csi-driver-operator-machines rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-csi-driver-operator-modules", "KIND", d.Kind)}))
	}
	for _, verb := range []string{"create", "patch", "delete", "list", "watch"} {
		resources := "machineconfiguration.openshift.io/machineconfigs:99-master-ceph-KIND-csi-modules " +
			"machineconfiguration.openshift.io/machineconfigs:99-worker-ceph-KIND-csi-modules node.harvesterhci.io/cloudinits:ceph-KIND-csi-modules"
		if verb != "list" && verb != "watch" {
			for _, image := range []string{"dataimportcrons", "datasources", "virtualmachineimages"} {
				resources += " admissionregistration.k8s.io/validatingadmissionpolicies:ceph-KIND-csi-images-" + image +
					" admissionregistration.k8s.io/validatingadmissionpolicybindings:ceph-KIND-csi-images-" + image
			}
		}
		maps.Copy(out, justified(reason{asked, Cluster, verb, strings.ReplaceAll(resources, "KIND", d.Kind)}))
	}
	maps.Copy(out, justified(reason{named, Cluster, "create", "/configmaps:ceph-" + d.Kind + "-csi-driver-dashboard"}))
	return out
}

// ofInstalled is what `cluster-storage` applies of an operator.
const ofInstalled = "/configmaps:ceph-KIND-csi-driver-operator-config /serviceaccounts:ceph-KIND-csi-driver-operator /services:ceph-KIND-csi-driver-operator-metrics " +
	"monitoring.coreos.com/servicemonitors:ceph-KIND-csi-driver-operator " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-operator-role rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-operator-rolebinding " +
	"rbac.authorization.k8s.io/roles:ceph-KIND-csi-driver-operator-prometheus rbac.authorization.k8s.io/rolebindings:ceph-KIND-csi-driver-operator-prometheus "

// ofGlue are those of `cluster-storage`; what it grants it needs anyway.
var ofGlue = justified(reason{repair, Namespace, "update", strings.ReplaceAll(ofInstalled, "KIND", "rbd") + strings.ReplaceAll(ofInstalled, "KIND", "cephfs")},
	reason{repair, Cluster, "update",
		"rbac.authorization.k8s.io/clusterroles:ceph-rbd-csi-driver-operator-clusterrole rbac.authorization.k8s.io/clusterroles:ceph-cephfs-csi-driver-operator-clusterrole " +
			"rbac.authorization.k8s.io/clusterrolebindings:ceph-rbd-csi-driver-operator-clusterrolebinding " +
			"rbac.authorization.k8s.io/clusterrolebindings:ceph-cephfs-csi-driver-operator-clusterrolebinding"},
	reason{served, Namespace, "update", "/configmaps:ceph-cluster-storage-ca-bundle /secrets:ceph-cluster-storage-signer /secrets:ceph-cluster-storage-serving-cert " +
		"/secrets:ceph-rbd-csi-driver-operator-serving-cert /secrets:ceph-rbd-csi-driver-controller-metrics-serving-cert " +
		"/secrets:ceph-cephfs-csi-driver-operator-serving-cert /secrets:ceph-cephfs-csi-driver-controller-metrics-serving-cert"})

// Why the drivers' pods need what no suite uses: the stand-in of ceph-csi does less than ceph-csi.
const (
	scc    = "OpenShift asks its authorizer for it, not the API server, when it admits the pods"
	healer = "ceph-csi maps volumes of rbd-nbd again after a restart, when they are attached to the node"
	server = "ceph-csi looks up key servers of encrypted volumes where it has no file of them"
	groups = "the snapshotter says so of a group of snapshots that has failed, or was made: CephFS makes none on all releases of Ceph"
	modify = "VolumeAttributesClasses: ceph-csi modifies images by them since 3.17"
)

// ofPods are those of a driver's pods, by their accounts.
func ofPods(d driver.Driver) map[string]map[Right]string {
	node := justified(
		reason{scc, Namespace, "use", "security.openshift.io/securitycontextconstraints:privileged"},
		reason{server, Namespace, "get", "/configmaps:csi-kms-connection-details"},
	)
	if d.Kind == driver.RBD.Kind {
		maps.Copy(node, justified(
			reason{healer, Cluster, "get", "/persistentvolumes storage.k8s.io/volumeattachments"},
			reason{healer, Cluster, "list", "storage.k8s.io/volumeattachments"},
			reason{healer, Namespace, "get", "/secrets:" + d.NodeSecret()},
		))
	}
	controller := justified(
		reason{groups, Cluster, "get", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents"},
		reason{groups, Cluster, "patch", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents/status"},
		reason{groups, Cluster, "update", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents/status"},
	)
	return map[string]map[Right]string{d.NodeName() + "-sa": node, d.ControllerName() + "-sa": controller}
}

// unused are shared roles that the drivers' pods need, although no suite uses anything of them.
var unused = map[string]map[string]string{driver.RBD.ControllerName() + "-sa": {
	"openshift-csi-provisioner-volumeattributesclass-reader-role": modify, "openshift-csi-resizer-volumeattributesclass-reader-role": modify,
}}

// reason says why a verb is needed on resources ("group/resource" or "group/resource:name").
type reason struct {
	text      string
	scope     Scope
	verb      string
	resources string
}

func justified(reasons ...reason) map[Right]string {
	out := map[Right]string{}
	for _, r := range reasons {
		for _, resource := range strings.Fields(r.resources) {
			group, kind, _ := strings.Cut(resource, "/")
			kind, name, _ := strings.Cut(kind, ":")
			out[Right{Scope: r.scope, Group: group, Resource: kind, Name: name, Verb: r.verb}] = r.text
		}
	}
	return out
}
