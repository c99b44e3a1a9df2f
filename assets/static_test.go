package assets_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	volumegroupsnapshotv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	volumesnapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestStaticOrder: a binding before its role is refused. Workloads wait for their
// ServiceAccounts; that these come after their bindings gives the first pods all their rights.
func TestStaticOrder(t *testing.T) {
	for _, d := range driver.All {
		set := render(t, d)
		applied := map[string]bool{}
		for _, name := range set.Static() {
			var object struct {
				metav1.PartialObjectMetadata `json:",inline"`
				RoleRef                      rbacv1.RoleRef   `json:"roleRef"`
				Subjects                     []rbacv1.Subject `json:"subjects"`
			}
			if err := yaml.Unmarshal(content(t, set, name), &object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			role := object.RoleRef.Kind + " " + object.RoleRef.Name
			if strings.HasPrefix(object.RoleRef.Name, "ceph-") && !applied[role] {
				t.Errorf("%s: %s comes before %s", d.Kind, name, role)
			}
			for _, subject := range object.Subjects {
				if applied[subject.Kind+" "+subject.Name] {
					t.Errorf("%s: %s comes after ServiceAccount %s, whose pods may have started", d.Kind, name, subject.Name)
				}
			}
			if object.Namespace != "" && object.Namespace != driver.Namespace {
				t.Errorf("%s: %s is in namespace %s", d.Kind, name, object.Namespace)
			}
			applied[object.Kind+" "+object.Name] = true
		}
	}
}

// TestStaticIsTheFolder: what is not static has a condition of its own.
func TestStaticIsTheFolder(t *testing.T) {
	special := []string{
		assets.Controller, assets.CSIDriver, assets.Dashboard, assets.Node, assets.PrometheusRule, assets.ServiceMonitor, assets.StorageClass,
		assets.VolumeGroupSnapshotClass, assets.VolumeSnapshotClass,
	}
	for _, d := range driver.All {
		set := render(t, d)
		special := special
		if d.Kind == driver.RBD.Kind {
			special = append(slices.Clone(special), assets.VirtualizationClass)
			slices.Sort(special)
		}
		all := slices.DeleteFunc(set.Names(), func(name string) bool {
			return slices.Contains([]string{"static", "userspace", "retired"}, path.Dir(name))
		})
		if diff := cmp.Diff(special, all); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
		}
		if len(set.Static())+len(set.UserSpace())+len(set.Retired())+len(special) != len(set.Names()) {
			t.Errorf("%s: %d static assets, %d for user space, %d retired ones, %d in all", d.Kind, len(set.Static()), len(set.UserSpace()), len(set.Retired()), len(set.Names()))
		}
	}
}

// TestNoCollision: both drivers are deployed into the same cluster and namespace.
func TestNoCollision(t *testing.T) {
	owner := map[string]string{}
	for _, d := range driver.All {
		set := render(t, d)
		for _, name := range set.Names() {
			var object metav1.PartialObjectMetadata
			if err := yaml.Unmarshal(content(t, set, name), &object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			key := object.Kind + " " + object.Name
			if other := owner[key]; other != "" {
				t.Errorf("%s is in the assets of %s and of %s (%s)", key, other, d.Kind, name)
			}
			owner[key] = d.Kind
		}
	}
}

func TestCSIDriver(t *testing.T) {
	for _, d := range driver.All {
		var csiDriver storagev1.CSIDriver
		asset(t, d, assets.CSIDriver, &csiDriver)
		for _, problem := range unequal(map[string][2]any{
			"name":           {csiDriver.Name, d.Name},
			"managed":        {csiDriver.Annotations["csi.openshift.io/managed"], "true"},
			"attachRequired": {*csiDriver.Spec.AttachRequired, true},
			"podInfoOnMount": {*csiDriver.Spec.PodInfoOnMount, true},
			"seLinuxMount":   {*csiDriver.Spec.SELinuxMount, true},
			"fsGroupPolicy":  {*csiDriver.Spec.FSGroupPolicy, storagev1.FileFSGroupPolicy},
		}) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
	}
}

func TestStorageClass(t *testing.T) {
	want := map[string]map[string]string{
		driver.RBD.Kind: {
			"csi.storage.k8s.io/fstype": "ext4",
			"imageFeatures":             "layering,exclusive-lock,object-map,fast-diff,deep-flatten",
		},
		driver.CephFS.Kind: {},
	}
	for _, d := range driver.All {
		var class storagev1.StorageClass
		asset(t, d, assets.StorageClass, &class)
		parameters := want[d.Kind]
		uses := map[string]string{
			"provisioner": d.ProvisionerSecret(), "controller-expand": d.ProvisionerSecret(), "controller-publish": d.ProvisionerSecret(),
			"node-stage": d.NodeSecret(),
		}
		if d.Kind == driver.RBD.Kind {
			uses["node-publish"] = d.NodeSecret()
		}
		for use, secret := range uses {
			parameters["csi.storage.k8s.io/"+use+"-secret-name"] = secret
			parameters["csi.storage.k8s.io/"+use+"-secret-namespace"] = driver.Namespace
		}
		if diff := cmp.Diff(parameters, class.Parameters); diff != "" {
			t.Errorf("%s: parameters (-want +got):\n%s", d.Kind, diff)
		}
		byDefault, marked := class.Annotations["storageclass.kubernetes.io/is-default-class"]
		for _, problem := range unequal(map[string][2]any{
			"name":                 {class.Name, d.StorageClass},
			"provisioner":          {class.Provisioner, d.Name},
			"is ours":              {d.Owns(&class), true},
			"reclaimPolicy":        {string(*class.ReclaimPolicy), "Delete"},
			"allowVolumeExpansion": {*class.AllowVolumeExpansion, true},
			"default":              {byDefault, map[bool]string{true: "true"}[d.Kind == driver.RBD.Kind]},
			"says default or not":  {marked, d.Kind == driver.RBD.Kind},
		}) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
	}
}

func TestSnapshotClasses(t *testing.T) {
	for _, d := range driver.All {
		var single volumesnapshotv1.VolumeSnapshotClass
		asset(t, d, assets.VolumeSnapshotClass, &single)
		var group volumegroupsnapshotv1beta2.VolumeGroupSnapshotClass
		asset(t, d, assets.VolumeGroupSnapshotClass, &group)
		for _, problem := range unequal(map[string][2]any{
			"name":             {single.Name, d.SnapshotClass},
			"group name":       {group.Name, d.SnapshotClass},
			"driver":           {single.Driver, d.Name},
			"group driver":     {group.Driver, d.Name},
			"is ours":          {d.Owns(&single), true},
			"group is ours":    {d.Owns(&group), true},
			"default":          {single.Annotations["snapshot.storage.kubernetes.io/is-default-class"], "true"},
			"group default":    {group.Annotations["groupsnapshot.storage.kubernetes.io/is-default-class"], "true"},
			"deletion":         {string(single.DeletionPolicy), "Delete"},
			"group deletion":   {string(group.DeletionPolicy), "Delete"},
			"Secret":           {single.Parameters["csi.storage.k8s.io/snapshotter-secret-name"], d.ProvisionerSecret()},
			"Secret in":        {single.Parameters["csi.storage.k8s.io/snapshotter-secret-namespace"], driver.Namespace},
			"group's Secret":   {group.Parameters["csi.storage.k8s.io/group-snapshotter-secret-name"], d.ProvisionerSecret()},
			"group's Secret's": {group.Parameters["csi.storage.k8s.io/group-snapshotter-secret-namespace"], driver.Namespace},
		}) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
	}
}

func TestDisruptionBudget(t *testing.T) {
	for _, w := range workloads(t) {
		if w.node {
			continue
		}
		var budget policyv1.PodDisruptionBudget
		asset(t, w.driver, "static/30_controller_pdb.yaml", &budget)
		if !maps.Equal(budget.Spec.Selector.MatchLabels, w.selector.MatchLabels) || budget.Spec.MaxUnavailable.String() != "1" ||
			*budget.Spec.UnhealthyPodEvictionPolicy != policyv1.AlwaysAllow {
			t.Errorf("%s: %+v does not protect %v", w.driver.Kind, budget.Spec, w.selector.MatchLabels)
		}
	}
}
