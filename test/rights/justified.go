package rights

import "strings"

const (
	repair = "a change by hand is taken back, and a new version's manifest replaces an old one's"
	anew   = "what cannot be changed in place is deleted and created anew"
	scrape = "the operator asks who scrapes it, when somebody does"
	notice = "events about StorageClasses, which have no namespace"
	again  = "a write that met somebody else's is made again with what is there now"
	cdi    = "StorageProfiles are there where KubeVirt's importer is installed"
	hci    = "settings, and annotations of StorageClasses, that Harvester reads where it is installed"
	fresh  = "a volume is looked at anew before anything is written about it in Ceph"
	listed = "spec.driverConfig.ceph.outOfBand and monValueFromSecret, of which a suite may use one driver's only"
)

const harvester = "harvesterhci.io/settings:csi-driver-config harvesterhci.io/settings:csi-online-expand-validation"

// ofOperator are rights that the operators need, although it depends on a suite's course whether
// it uses them.
var ofOperator = justified(
	reason{repair, Namespace, "update", "/configmaps /serviceaccounts /services policy/poddisruptionbudgets monitoring.coreos.com/servicemonitors " +
		"rbac.authorization.k8s.io/roles rbac.authorization.k8s.io/rolebindings"},
	reason{repair, Cluster, "update", "storage.k8s.io/csidrivers storage.k8s.io/storageclasses snapshot.storage.k8s.io/volumesnapshotclasses " +
		"groupsnapshot.storage.k8s.io/volumegroupsnapshotclasses rbac.authorization.k8s.io/clusterroles rbac.authorization.k8s.io/clusterrolebindings"},
	reason{anew, Cluster, "delete", "storage.k8s.io/csidrivers storage.k8s.io/storageclasses snapshot.storage.k8s.io/volumesnapshotclasses " +
		"groupsnapshot.storage.k8s.io/volumegroupsnapshotclasses"},
	reason{scrape, Cluster, "create", "authorization.k8s.io/subjectaccessreviews"},
	reason{notice, Cluster, "create", "/events"},
	reason{cdi, Cluster, "list", "cdi.kubevirt.io/storageprofiles"},
	reason{cdi, Cluster, "watch", "cdi.kubevirt.io/storageprofiles"},
	reason{cdi, Cluster, "patch", "cdi.kubevirt.io/storageprofiles"},
	reason{hci, Cluster, "list", harvester},
	reason{hci, Cluster, "watch", harvester},
	reason{hci, Cluster, "update", harvester},
	reason{hci, Cluster, "patch", "storage.k8s.io/storageclasses"},
	reason{fresh, Cluster, "get", "/persistentvolumes"},
	reason{again, Cluster, "get", "operator.openshift.io/clustercsidrivers"},
	reason{listed, Elsewhere, "get", "/configmaps /secrets"},
	reason{listed, Elsewhere, "update", "/configmaps /secrets"},
)

// ofGlue are those of `cluster-storage`; what it grants it needs anyway.
var ofGlue = justified()

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
