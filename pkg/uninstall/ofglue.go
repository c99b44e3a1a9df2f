package uninstall

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/glue"
	"github.com/openshift/ceph-csi-driver-operator/pkg/servingcerts"
)

// releaseAnnotation marks what the cluster version operator brings.
const releaseAnnotation = "include.release.openshift.io/self-managed-high-availability"

// ofGlue are what `cluster-storage` made for all drivers, and what it was installed with: the
// names of manifests/, which a test compares.
func ofGlue() []target {
	var out []target
	for _, name := range slices.Sorted(maps.Keys(assets.SharedRoles())) {
		t := wide("ClusterRole", name)
		t.mine = createdByGlue
		out = append(out, t)
	}
	storage, operator := wide("Storage", "cluster"), wide("ClusterOperator", "storage")
	storage.mine, operator.mine = createdByGlue, reportedByGlue
	return append(out,
		operator, storage,
		here("ServiceMonitor", glue.Name), here("RoleBinding", glue.Name+"-prometheus"), here("Role", glue.Name+"-prometheus"),
		wide("ClusterRoleBinding", glue.Name), wide("ClusterRoleBinding", glue.Name+"-granted"),
		here("RoleBinding", glue.Name), here("RoleBinding", glue.Name+"-granted"),
		wide("ClusterRole", glue.Name), wide("ClusterRole", glue.Name+"-granted"),
		here("Role", glue.Name), here("Role", glue.Name+"-granted"),
		here("Service", glue.Name+"-metrics"), here("Secret", glue.Name+"-serving-cert"),
		here("ConfigMap", glue.Name+"-config"), here("Lease", glue.Name+"-lock"),
		here("ServiceAccount", glue.Name),
		// Of clusters without OpenShift.
		wide("ClusterRoleBinding", glue.Name+"-kubernetes"), wide("ClusterRole", glue.Name+"-kubernetes"),
		here("Secret", glue.SignerSecret), here("ConfigMap", servingcerts.BundleConfigMap),
	)
}

// createdByGlue: a role that cluster-storage-operator has made its own since then is not.
func createdByGlue(object *unstructured.Unstructured) bool {
	return object.GetLabels()[driver.ManagedByLabel] == glue.Name && object.GetAnnotations()[releaseAnnotation] == ""
}

// reportedByGlue: nobody but us has ever written the status of the ClusterOperator.
func reportedByGlue(object *unstructured.Unstructured) bool {
	found := false
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "status" && entry.Manager != glue.StatusManager {
			return false
		}
		found = found || entry.Manager == glue.StatusManager
	}
	return found
}
