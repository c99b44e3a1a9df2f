package rights

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
)

const root = "../.."

// ofAnyName are the changes of objects whose names somebody else chooses.
var ofAnyName = map[string]string{
	"patch events": "whoever records one makes up its name",
	"patch volumesnapshotcontents.snapshot.storage.k8s.io":                   "granted to the snapshotter",
	"update volumesnapshotcontents/status.snapshot.storage.k8s.io":           "granted to the snapshotter",
	"patch volumesnapshotcontents/status.snapshot.storage.k8s.io":            "granted to the snapshotter",
	"update volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io":        "granted to the snapshotter",
	"patch volumegroupsnapshotcontents.groupsnapshot.storage.k8s.io":         "granted to the snapshotter",
	"update volumegroupsnapshotcontents/status.groupsnapshot.storage.k8s.io": "granted to the snapshotter",
	"patch volumegroupsnapshotcontents/status.groupsnapshot.storage.k8s.io":  "granted to the snapshotter",
	"patch storageprofiles.cdi.kubevirt.io":                                  "they have the names of StorageClasses, users' ones among them",
	"patch storageclasses.storage.k8s.io":                                    "annotations that Harvester reads, on users' classes, too",
}

func shipped(t *testing.T) []Account {
	t.Helper()
	out, err := Shipped(root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// heldBy are the rights of an account where its objects are.
func heldBy(t *testing.T, account string) []Right {
	t.Helper()
	all := shipped(t)
	i := slices.IndexFunc(all, func(a Account) bool { return a.Name == account })
	return all[i].atHome()
}

// atHome are the rights where its objects are: what an administrator binds elsewhere is about objects of others.
func (a Account) atHome() []Right {
	return slices.DeleteFunc(slices.Clone(a.Held), func(r Right) bool { return r.Scope == Elsewhere })
}

// TestChangesAreNamed: whoever may change any workload of the namespace may run as other drivers' pods do.
func TestChangesAreNamed(t *testing.T) {
	pods, err := Operands()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range slices.Concat(shipped(t), pods) {
		for _, r := range a.atHome() {
			changes := slices.Contains([]string{"update", "patch", "delete", "deletecollection"}, r.Verb)
			what := r.Verb + " " + schema.GroupResource{Group: r.Group, Resource: r.Resource}.String()
			if changes && r.Name == "" && ofAnyName[what] == "" {
				t.Errorf("%s may, of any name, %s", a.Name, what)
			}
		}
	}
}

// TestOwnObjectsCanBeChanged: a change by hand is taken back, another version's manifest replaced, and what is
// Removed goes.
func TestOwnObjectsCanBeChanged(t *testing.T) {
	for _, d := range driver.All {
		images := map[string]string{}
		for _, name := range assets.RequiredImages() {
			images[name] = "registry.example.com/image"
		}
		set, err := assets.New(assets.Values{Driver: d, Images: images})
		if err != nil {
			t.Fatal(err)
		}
		objects, err := removal.ObjectsOf(d, set)
		if err != nil {
			t.Fatal(err)
		}
		held := heldBy(t, d.OperatorName())
		for _, o := range slices.Concat(objects.Classes, objects.Workloads, objects.Rest) {
			expectChangeable(t, held, o.Kind, o.Name)
			if !may(held, "delete", o.Kind, o.Name) {
				t.Errorf("%s may not delete %s by its name", d.OperatorName(), o)
			}
		}
		for _, o := range objects.Retired {
			if !may(held, "delete", o.Kind, o.Name) || may(held, "update", o.Kind, o.Name) {
				t.Errorf("%s may delete %s, which nobody makes any more, and no more", d.OperatorName(), o)
			}
		}
		expectChangeable(t, held, "ConfigMap", d.StateConfigMap())
	}
}

// TestOperatorsCanBeChanged: so does cluster-storage with what it applies of the operators.
func TestOperatorsCanBeChanged(t *testing.T) {
	held := heldBy(t, GlueAccount)
	for _, d := range driver.All {
		files, err := filepath.Glob(filepath.Join(root, "assets", "csidriveroperators", "ceph-"+d.Kind, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no manifests of %s: %v", d.OperatorName(), err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(content, &object.Object); err != nil {
				t.Fatal(err)
			}
			// Some roles are only installed with it; the ClusterCSIDriver is its administrator's.
			if !slices.Contains(append(byAdministrators(d), byOperator(d)...), object.GetName()) && object.GetKind() != "ClusterCSIDriver" {
				expectChangeable(t, held, object.GetKind(), object.GetName())
			}
		}
	}
	for _, name := range []string{GlueAccount + "-config", GlueAccount + "-ca-bundle"} {
		expectChangeable(t, held, "ConfigMap", name)
	}
}

// expectChangeable wants an object to be changed in one of the two ways.
func expectChangeable(t *testing.T, held []Right, kind, name string) {
	t.Helper()
	if !may(held, "update", kind, name) && !may(held, "patch", kind, name) {
		t.Errorf("%s %s cannot be changed by its name", kind, name)
	}
}

func may(held []Right, verb, kind, name string) bool {
	of, native := removal.Native[kind]
	if !native {
		of = removal.Extended[kind]
	}
	return slices.ContainsFunc(held, func(r Right) bool {
		return of.Resource != "" && r.Group == of.Group && r.Resource == of.Resource && r.Verb == verb && r.Name == name
	})
}
