package openshift

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

func TestNodes(t *testing.T) {
	tests := map[string]struct {
		reason string
		nodes  Nodes
		want   []string
	}{
		"HighlyAvailable": {
			reason: "masters are for the control plane alone",
			nodes:  Nodes{Masters: 1, Workers: 2},
			want:   []string{"master-0 control-plane,master tainted", "worker-0 worker", "worker-1 worker"},
		},
		"SingleNode": {
			reason: "pods of users must fit somewhere",
			nodes:  Nodes{Masters: 1},
			want:   []string{"master-0 control-plane,master,worker"},
		},
		"HostedControlPlane": {
			reason: "the control plane runs elsewhere",
			nodes:  Nodes{Workers: 1},
			want:   []string{"worker-0 worker"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, node := range tc.nodes.all("v1.36.2") {
				var roles []string
				for label := range node.Labels {
					if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
						roles = append(roles, role)
					}
				}
				slices.Sort(roles)
				line := node.Name + " " + strings.Join(roles, ",")
				if len(node.Spec.Taints) > 0 {
					line += " tainted"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPatchClusterCSIDriver(t *testing.T) {
	file := DriverCRDPatches()[0]
	tests := map[string]struct {
		reason, patch string
	}{
		"Missing":   {reason: "says which file", patch: ""},
		"NoPatch":   {reason: "a file that is no patch", patch: "{}"},
		"WrongPath": {reason: "openshift/api moved what is patched", patch: `[{"op":"add","path":"/spec/gone/-","value":1}]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if tc.patch != "" {
				mustWrite(t, filepath.Join(root, file), tc.patch)
			}
			_, err := patchClusterCSIDriver(root, []byte(`{"spec":{}}`))
			if err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s: got %v, want mention of %s", tc.reason, err, file)
			}
		})
	}
}

func TestOperatorRBACNamesMissingFolder(t *testing.T) {
	_, err := operatorRBAC(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), operatorRBACFolders[0]) {
		t.Errorf("got %v, want mention of %s", err, operatorRBACFolders[0])
	}
}

// TestSharedRoles: sidecars may do here what they may do on OpenShift.
func TestSharedRoles(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := ownObjects(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range assets.SharedRoles() {
		want, err := parse(name, content)
		if err != nil {
			t.Fatal(err)
		}
		same := func(o *unstructured.Unstructured) bool { return cmp.Equal(want[0].Object, o.Object) }
		if !slices.ContainsFunc(objects, same) {
			t.Errorf("%s is missing, or is another one", name)
		}
	}
}

func TestApplyOrderAndKinds(t *testing.T) {
	objects, err := parse("test.yaml", []byte(`
kind: ClusterRoleBinding
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: b}
---
kind: Deployment
apiVersion: apps/v1
metadata: {name: d, namespace: n}
---
kind: ClusterRole
apiVersion: rbac.authorization.k8s.io/v1
metadata: {name: r}
---
`))
	if err != nil {
		t.Fatal(err)
	}
	client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
	var got []string
	client.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		got = append(got, a.GetResource().Resource)
		return true, &unstructured.Unstructured{}, nil
	})
	if err := apply(t.Context(), client, objects); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"clusterroles", "clusterrolebindings"}, got); diff != "" {
		t.Errorf("a binding comes after its role, and a Deployment is not ours to apply:\n%s", diff)
	}
}

// TestFilesExist finds out at once when a newer openshift/api renamed a file.
func TestFilesExist(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	for pkg, files := range openshiftCRDs {
		dir, err := repository.PackageDir(t.Context(), root, pkg)
		if err != nil {
			t.Fatal(err)
		}
		if err := readFiles(map[string][]byte{}, os.DirFS(dir), files...); err != nil {
			t.Error(err)
		}
	}
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
