package clusterstorage

import (
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// relatedObjects are what must-gather collects. The namespace brings all that is in it: pods
// with logs, Deployments, ConfigMaps, events, leases.
func (s starter) relatedObjects() []configv1.ObjectReference {
	out := []configv1.ObjectReference{
		{Resource: "namespaces", Name: driver.Namespace},
		{Group: operatorv1.GroupName, Resource: "storages", Name: instance},
		{Group: ctrl.CRDs.Group, Resource: ctrl.CRDs.Resource, Name: clusterCSIDriverCRD},
		{Group: rbacv1.GroupName, Resource: "clusterroles", Name: Name},
		{Group: rbacv1.GroupName, Resource: "clusterrolebindings", Name: Name},
	}
	for _, o := range s.operators() {
		if !s.started(o) {
			continue
		}
		out = append(out, configv1.ObjectReference{Group: operatorv1.GroupName, Resource: "clustercsidrivers", Name: o.CSIDriverName})
		for _, path := range o.StaticAssets {
			if reference, ok := s.reference(path); ok {
				out = append(out, reference)
			}
		}
		out = append(out,
			configv1.ObjectReference{Group: "storage.k8s.io", Resource: "csidrivers", Name: o.CSIDriverName},
			configv1.ObjectReference{Group: "storage.k8s.io", Resource: "storageclasses", Name: o.driver.StorageClass},
			configv1.ObjectReference{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotclasses", Name: o.driver.SnapshotClass},
		)
	}
	return out
}

// reference names the object of a static asset, of a group with one: core objects come with
// the namespace.
func (s starter) reference(path string) (configv1.ObjectReference, bool) {
	content, err := s.Assets(path)
	if err != nil {
		return configv1.ObjectReference{}, false
	}
	var object struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
	}
	if err := yaml.Unmarshal(content, &object); err != nil {
		return configv1.ObjectReference{}, false
	}
	group, _, grouped := strings.Cut(object.APIVersion, "/")
	if !grouped {
		return configv1.ObjectReference{}, false
	}
	return configv1.ObjectReference{
		Group: group, Resource: strings.ToLower(object.Kind) + "s", Namespace: object.Metadata.Namespace, Name: object.Metadata.Name,
	}, true
}
