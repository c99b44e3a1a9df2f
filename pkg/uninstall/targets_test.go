package uninstall

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
)

func testOptions(t *testing.T) Options {
	t.Helper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "x"
	}
	o := Options{Operators: assets.Operator, Operands: map[string]assets.Set{}}
	for _, d := range driver.All {
		set, err := assets.New(assets.Values{Driver: d, Images: images})
		if err != nil {
			t.Fatal(err)
		}
		o.Operands[d.Name] = set
	}
	return o
}

func allTargets(t *testing.T) []target {
	t.Helper()
	out, err := targets(testOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func names(all []target) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.String())
	}
	return out
}

// TestManifestsAreRemoved: what `oc apply -f manifests/` brings goes, but for the namespace,
// which is cluster-storage-operator's, and the definitions of OpenShift's kinds.
func TestManifestsAreRemoved(t *testing.T) {
	have := names(allTargets(t))
	files, err := filepath.Glob("../../manifests/*.yaml")
	plain, plainErr := filepath.Glob("../../manifests/kubernetes/*.yaml")
	if err != nil || plainErr != nil || len(files) == 0 || len(plain) == 0 {
		t.Fatalf("no manifests: %v, %v", err, plainErr)
	}
	for _, file := range append(files, plain...) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "kind: Namespace\n") || strings.Contains(string(content), "kind: CustomResourceDefinition\n") {
			continue
		}
		want, err := removal.Parse(file, content)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(have, want.String()) {
			t.Errorf("%s: %s is not removed", file, want)
		}
	}
}

// TestFormerVersionsAreRemoved: what a former version has made is there where its successor never ran.
func TestFormerVersionsAreRemoved(t *testing.T) {
	have := names(allTargets(t))
	for _, want := range []string{
		"ClusterRoleBinding ceph-cephfs-provisioner-configmap-and-secret-reader-binding",
		"ClusterRoleBinding ceph-rbd-main-snapshotter-binding", "ClusterRole openshift-csi-main-snapshotter-role",
	} {
		if !slices.Contains(have, want) {
			t.Errorf("%s is not removed", want)
		}
	}
}

func TestOrder(t *testing.T) {
	have := names(allTargets(t))
	place := func(name string) int {
		i := slices.Index(have, name)
		if i < 0 {
			t.Errorf("%s is not removed; there are %q", name, have)
		}
		return i
	}
	before := func(reason, first, second string) {
		if place(first) > place(second) {
			t.Errorf("%s must go before %s: %s", first, second, reason)
		}
	}
	ns := driver.Namespace + "/"
	for _, d := range driver.All {
		before("it would bring the operator back", "Deployment "+ns+clusterstorage.Name, "Deployment "+ns+d.OperatorName())
		before("it would bring the operands back", "Deployment "+ns+d.OperatorName(), "DaemonSet "+ns+d.NodeName())
		before("pods use it to the end", "DaemonSet "+ns+d.NodeName(), "Secret "+ns+d.ConfigSecret())
		before("pods use it to the end", "DaemonSet "+ns+d.NodeName(), "ServiceAccount "+ns+d.NodeName()+"-sa")
		before("its operator reads it", "Deployment "+ns+d.OperatorName(), "ClusterCSIDriver "+d.Name)
		before("bindings first", "ClusterRoleBinding "+d.OperatorName()+"-clusterrolebinding", "ClusterRole "+d.OperatorName()+"-clusterrole")
	}
	if i := slices.Index(have, have[0]); have[0] != "Deployment "+ns+clusterstorage.Name {
		t.Errorf("first of all, cluster-storage must end, not %s", have[i])
	}
	if sorted := slices.Sorted(slices.Values(have)); len(slices.Compact(sorted)) != len(have) {
		t.Errorf("something is listed twice: %q", have)
	}
}

func TestWhoseItIs(t *testing.T) {
	foreign := &unstructured.Unstructured{Object: map[string]any{}}
	foreign.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "ceph"})
	for _, tt := range allTargets(t) {
		switch tt.Kind {
		case "StorageClass", "VolumeSnapshotClass", "VolumeGroupSnapshotClass", "CSIDriver", "Storage", "ClusterOperator":
			if tt.Mine == nil || tt.Mine(foreign) {
				t.Errorf("%s of somebody else would be removed", tt)
			}
		case "ClusterRole":
			if strings.HasPrefix(tt.Name, "openshift-csi-") && (tt.Mine == nil || tt.Mine(foreign)) {
				t.Errorf("%s of cluster-storage-operator would be removed", tt)
			}
		}
	}
	adopted := &unstructured.Unstructured{Object: map[string]any{}}
	adopted.SetLabels(map[string]string{driver.ManagedByLabel: clusterstorage.Name})
	if !createdByGlue(adopted) {
		t.Error("what cluster-storage made must go")
	}
	adopted.SetAnnotations(map[string]string{releaseAnnotation: "true"})
	if createdByGlue(adopted) {
		t.Error("what the cluster version operator has taken over must stay")
	}
}
