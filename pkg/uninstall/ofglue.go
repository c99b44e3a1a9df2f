package uninstall

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// releaseAnnotation marks what the cluster version operator brings.
const releaseAnnotation = "include.release.openshift.io/self-managed-high-availability"

// formerSharedRole is of the sidecars, too: former versions brought it.
const formerSharedRole = "openshift-csi-main-snapshotter-role"

// ofGlue are what `cluster-storage` made for all drivers, and what it was installed with: the
// names of manifests/, which a test compares.
func ofGlue() []target {
	var out []target
	for _, name := range append(slices.Sorted(maps.Keys(assets.SharedRoles())), formerSharedRole) {
		t := wide("ClusterRole", name)
		t.Mine = createdByGlue
		out = append(out, t)
	}
	storage, operator := wide("Storage", "cluster"), wide("ClusterOperator", "storage")
	storage.Mine, operator.Mine = createdByGlue, reportedByGlue
	return append(out,
		operator, storage,
		here("ServiceMonitor", clusterstorage.Name), here("RoleBinding", clusterstorage.Name+"-prometheus"), here("Role", clusterstorage.Name+"-prometheus"),
		wide("ClusterRoleBinding", clusterstorage.Name), wide("ClusterRoleBinding", clusterstorage.Name+"-granted"),
		here("RoleBinding", clusterstorage.Name), here("RoleBinding", clusterstorage.Name+"-granted"),
		wide("ClusterRole", clusterstorage.Name), wide("ClusterRole", clusterstorage.Name+"-granted"),
		here("Role", clusterstorage.Name), here("Role", clusterstorage.Name+"-granted"),
		here("Service", clusterstorage.Name+"-metrics"), here("Secret", clusterstorage.Name+"-serving-cert"),
		here("ConfigMap", clusterstorage.Name+"-config"), here("Lease", clusterstorage.Name+"-lock"),
		here("ServiceAccount", clusterstorage.Name),
		// Of clusters without OpenShift.
		wide("ClusterRoleBinding", clusterstorage.Name+"-kubernetes"), wide("ClusterRole", clusterstorage.Name+"-kubernetes"),
		here("Secret", clusterstorage.SignerSecret), here("ConfigMap", servingcerts.BundleConfigMap),
	)
}

// createdByGlue: a role that cluster-storage-operator has made its own since then is not.
func createdByGlue(object metav1.Object) bool {
	return object.GetLabels()[driver.ManagedByLabel] == clusterstorage.Name && object.GetAnnotations()[releaseAnnotation] == ""
}

// reportedByGlue: nobody but us has ever written the status of the ClusterOperator.
func reportedByGlue(object metav1.Object) bool {
	found := false
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "status" && entry.Manager != clusterstorage.StatusManager {
			return false
		}
		found = found || entry.Manager == clusterstorage.StatusManager
	}
	return found
}
