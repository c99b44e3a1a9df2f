package rights

import (
	"maps"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Reasons for what no suite uses.
var (
	newer  = Reason{Text: "a new version's manifest replaces an old one's, and one of this version says nothing that somebody could change"}
	named  = Reason{Text: "the API server asks it, with the name, of whoever applies what is not there"}
	former = Reason{Text: "a former version has made them: the suite that upgrades from one is skipped without the repository's history"}
	scc    = Reason{Text: "OpenShift asks its authorizer for it, not the API server, when it admits the pods"}
)

// Reasons for what some suites use, or one with another course, driver or image.
var (
	notice = Reason{Sometimes: true, Text: "events about StorageClasses, which have no namespace"}
	again  = Reason{Sometimes: true, Text: "a write that met somebody else's is made again with what is there now"}
	hci    = Reason{Sometimes: true, Text: "settings, and annotations of StorageClasses, that Harvester reads where it is installed"}
	images = Reason{Sometimes: true, Text: "the API server asks it of whoever writes a policy about images; their StorageClasses cannot be replaced"}
	asked  = Reason{Sometimes: true, Text: "an administrator asks for it, maybe for one driver only"}
	fresh  = Reason{Sometimes: true, Text: "a volume is looked at anew before anything is written about it in Ceph"}
	served = Reason{Sometimes: true, Text: "serving certificates and their CA are rewritten when they end, or somebody has damaged them, where OpenShift does not make them"}
	leased = Reason{Sometimes: true, Text: "a driver's removal deletes the Leases of its sidecars, which pods of fake nodes do not make"}
	listed = Reason{Sometimes: true, Text: "spec.driverConfig.ceph.outOfBand, rookNamespace and monValueFromSecret, which a suite may use with one driver only"}
	server = Reason{Sometimes: true, Text: "ceph-csi looks up key servers of encrypted volumes where it has no file of them"}
	groups = Reason{Sometimes: true, Text: "the snapshotter says so of a group of snapshots that has failed, or was made: CephFS makes none on all releases of Ceph"}
	still  = Reason{Sometimes: true, Text: "there is no VolumeGroupSnapshotClass of CephFS where Ceph is older than 19.2"}
)

const harvester = "harvesterhci.io/settings:csi-driver-config harvesterhci.io/settings:csi-online-expand-validation"

// ofOperator are rights that the operators need, although it depends on a suite's course whether
// it uses them.
var ofOperator = justified(
	reason{notice, Cluster, "create", "/events"},
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

// ofFormer are bindings of the pods that a former version made.
const ofFormer = "rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-main-snapshotter-binding " +
	"rbac.authorization.k8s.io/clusterrolebindings:ceph-KIND-provisioner-configmap-and-secret-reader-binding"

// ofDriver are those of a driver's operator, on objects that it names itself.
func ofDriver(d driver.Driver) map[Right]Reason {
	out := maps.Clone(ofOperator)
	const groupClasses = "groupsnapshot.storage.k8s.io/volumegroupsnapshotclasses"
	classes := groupClasses + ":" + d.SnapshotClass
	if d.QuiescesGroups {
		maps.Copy(out, justified(reason{still, Cluster, "create", groupClasses}, reason{still, Cluster, "delete", classes}))
	}
	if class := d.Virtualization.Class; class != "" {
		classes += " storage.k8s.io/storageclasses:" + class
	}
	maps.Copy(out, justified(
		reason{newer, Cluster, "update", classes},
		reason{newer, Namespace, "update", "/serviceaccounts:" + d.ControllerName() + "-sa /serviceaccounts:" + d.NodeName() + "-sa"},
		reason{former, Cluster, "delete", strings.ReplaceAll(ofFormer, "KIND", d.Kind)},
	))
	for _, name := range d.SidecarLeases() {
		lease := "coordination.k8s.io/leases:" + name
		maps.Copy(out, justified(reason{leased, Namespace, "delete", lease}))
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

// ofGlue are those of `cluster-storage`; what it grants it needs anyway.
var ofGlue = justified(
	reason{newer, Namespace, "update", "/serviceaccounts:ceph-rbd-csi-driver-operator /serviceaccounts:ceph-cephfs-csi-driver-operator"},
	reason{served, Namespace, "update", "/configmaps:ceph-cluster-storage-ca-bundle /secrets:ceph-cluster-storage-signer /secrets:ceph-cluster-storage-serving-cert " +
		"/secrets:ceph-rbd-csi-driver-operator-serving-cert /secrets:ceph-rbd-csi-driver-controller-metrics-serving-cert " +
		"/secrets:ceph-cephfs-csi-driver-operator-serving-cert /secrets:ceph-cephfs-csi-driver-controller-metrics-serving-cert"})

// ofPods are those of a driver's pods, by their accounts.
func ofPods(d driver.Driver) map[string]map[Right]Reason {
	node := justified(
		reason{scc, Namespace, "use", "security.openshift.io/securitycontextconstraints:privileged"},
		reason{server, Namespace, "get", "/configmaps:csi-kms-connection-details"},
	)
	controller := justified(
		reason{groups, Cluster, "get", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents"},
		reason{groups, Cluster, "patch", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents/status"},
		reason{groups, Cluster, "update", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents/status"},
	)
	if d.QuiescesGroups {
		maps.Copy(controller, justified(reason{still, Cluster, "patch", "groupsnapshot.storage.k8s.io/volumegroupsnapshotcontents"}))
	}
	return map[string]map[Right]Reason{d.NodeName() + "-sa": node, d.ControllerName() + "-sa": controller}
}

// reason says why a verb is needed on resources ("group/resource" or "group/resource:name").
type reason struct {
	why       Reason
	scope     Scope
	verb      string
	resources string
}

func justified(reasons ...reason) map[Right]Reason {
	out := map[Right]Reason{}
	for _, r := range reasons {
		for _, resource := range strings.Fields(r.resources) {
			group, kind, _ := strings.Cut(resource, "/")
			kind, name, _ := strings.Cut(kind, ":")
			out[Right{Scope: r.scope, Group: group, Resource: kind, Name: name, Verb: r.verb}] = r.why
		}
	}
	return out
}
