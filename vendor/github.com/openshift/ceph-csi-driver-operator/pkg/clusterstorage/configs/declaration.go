package configs

// Where a Ceph cluster is declared.
const (
	// Namespace of the Secrets, and of everything that is deployed.
	Namespace = "openshift-cluster-csi-drivers"
	// secretName is the Secret that always counts.
	secretName = "ceph-credentials"
	// clusterLabel marks Secrets of further Ceph clusters.
	clusterLabel = "storage.openshift.io/ceph-cluster"
)

// Selector is what a list or watch of Secrets of Namespace asks for.
type Selector struct{ Fields, Labels string }

// Declarations select together the Secrets that IsDeclaration means, so that no other has to be read.
func Declarations() []Selector {
	return []Selector{{Fields: "metadata.name=" + secretName}, {Labels: clusterLabel}}
}

// IsDeclaration says whether a Secret of Namespace, by its name and labels, declares a Ceph
// cluster.
func IsDeclaration(name string, labels map[string]string) bool {
	_, labelled := labels[clusterLabel]
	return name == secretName || labelled
}
