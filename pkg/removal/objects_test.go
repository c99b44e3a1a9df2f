package removal

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func objectsOf(t *testing.T, d driver.Driver) (Objects, assets.Set) {
	t.Helper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "x"
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	if err != nil {
		t.Fatal(err)
	}
	out, err := ObjectsOf(d, set)
	if err != nil {
		t.Fatal(err)
	}
	return out, set
}

// TestEveryAsset: what is deployed is removed.
func TestEveryAsset(t *testing.T) {
	for _, d := range driver.All {
		objects, set := objectsOf(t, d)
		all := slices.Concat(objects.Classes, objects.Workloads, objects.Rest, objects.Retired)
		for _, name := range set.Names() {
			asset, err := read(set, name)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(all, func(o Object) bool { return o.String() == asset.String() }) {
				t.Errorf("%s: %s stays", d.Kind, asset)
			}
		}
		for _, o := range all {
			if o.Name == d.StateConfigMap() || o.Name == driver.CredentialsSecret || o.Kind == "ClusterCSIDriver" {
				t.Errorf("%s: %s would go, without which nothing comes back", d.Kind, o)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	objects, _ := objectsOf(t, driver.RBD)
	place := func(name string) int {
		return slices.IndexFunc(objects.Rest, func(o Object) bool { return o.String() == name })
	}
	for first, second := range map[string]string{
		"RoleBinding openshift-cluster-csi-drivers/ceph-rbd-csi-driver-privileged": "Role openshift-cluster-csi-drivers/ceph-rbd-csi-driver-privileged",
		"ClusterRoleBinding ceph-rbd-csi-driver-node-binding":                      "ClusterRole ceph-rbd-csi-driver-node-role",
	} {
		if a, b := place(first), place(second); a < 0 || b < a {
			t.Errorf("%s is at %d, %s at %d", first, a, second, b)
		}
	}
}

func TestWhoseItIs(t *testing.T) {
	objects, _ := objectsOf(t, driver.RBD)
	foreign := &unstructured.Unstructured{Object: map[string]any{}}
	foreign.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "ceph"})
	for _, o := range slices.Concat(objects.Classes, objects.Rest) {
		switch o.Kind {
		case "StorageClass", "VolumeSnapshotClass", "VolumeGroupSnapshotClass", "CSIDriver":
			if o.Mine == nil || o.Mine(foreign) {
				t.Errorf("%s of somebody else would be removed", o)
			}
		}
	}
}

func TestResource(t *testing.T) {
	tests := map[string]struct {
		kind    string
		served  []string
		version string
	}{
		"BuiltIn":    {"Deployment", nil, "v1"},
		"NotServed":  {"VolumeGroupSnapshotClass", nil, ""},
		"Served":     {"ServiceMonitor", []string{"v1"}, "v1"},
		"SeveralAre": {"VolumeGroupSnapshotClass", []string{"v1alpha1", "v1beta2", "v1beta1"}, "v1beta2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := resource(tc.kind, func(string) []string { return tc.served })
			if diff := cmp.Diff(tc.version, got.Version); diff != "" || known != (tc.version != "") {
				t.Errorf("got %v, %t", got, known)
			}
		})
	}
}
