package crdpatch

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch"
	"sigs.k8s.io/yaml"

	_ "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/golden"
)

const (
	patchFile  = "manifests/crd-patch/clustercsidriver.patch.json"
	rulesFile  = "manifests/crd-patch/clustercsidriver-rules.patch.json"
	crdPackage = "github.com/openshift/api/operator/v1/zz_generated.crd-manifests"
	crdPattern = "0000_50_csi-driver_01_clustercsidrivers-*.crd.yaml"
)

// variants are openshift/api's CRDs by feature set, with and without the patches.
func variants(t *testing.T) map[string]struct{ stock, patched []byte } {
	t.Helper()
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := repository.PackageDir(context.Background(), root, crdPackage)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, crdPattern))
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d files %s in %s, want one for each feature set (%v)", len(files), crdPattern, dir, err)
	}
	out := map[string]struct{ stock, patched []byte }{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stock, err := yaml.YAMLToJSON(content)
		if err != nil {
			t.Fatal(err)
		}
		patched := apply(t, root, stock, patchFile, rulesFile)
		name := strings.TrimSuffix(filepath.Base(file), ".crd.yaml")
		out[name[strings.LastIndex(name, "-")+1:]] = struct{ stock, patched []byte }{stock, patched}
	}
	return out
}

// apply patches a CRD with files of manifests/.
func apply(t *testing.T, root string, crd []byte, files ...string) []byte {
	t.Helper()
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(raw)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if crd, err = patch.Apply(crd); err != nil {
			t.Fatalf("%s does not apply: %v", file, err)
		}
	}
	return crd
}

// TestGoldenPatch compares the patches in manifests/ with what pkg/driver asks for.
func TestGoldenPatch(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	for file, make := range map[string]func() ([]byte, error){patchFile: Patch, rulesFile: RulesPatch} {
		want, err := make()
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, filepath.Join(root, file), string(want))
	}
}

// TestPatchOfEarlierReleases: until 4.22, the CRD of OpenShift has no rules for the whole object. What is needed applies
// there, too, and the API server takes it.
func TestPatchOfEarlierReleases(t *testing.T) {
	root, err := repository.Root()
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range variants(t) {
		t.Run(name, func(t *testing.T) {
			var crd map[string]any
			if err := json.Unmarshal(v.stock, &crd); err != nil {
				t.Fatal(err)
			}
			version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
			delete(version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any), "x-kubernetes-validations")
			earlier, err := json.Marshal(crd)
			if err != nil {
				t.Fatal(err)
			}
			refusal := validator(t, apply(t, root, earlier, patchFile))
			if text := refusal(t, driver.RBD.Name, "{driverType: Ceph, ceph: {pool: p}}"); text != "" {
				t.Error(text)
			}
		})
	}
}

// TestPatchAdds shows that nothing of a stock CRD is lost.
func TestPatchAdds(t *testing.T) {
	for name, v := range variants(t) {
		t.Run(name, func(t *testing.T) {
			var stock, patched any
			if err := json.Unmarshal(v.stock, &stock); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(v.patched, &patched); err != nil {
				t.Fatal(err)
			}
			if lost := missing("", stock, patched); len(lost) > 0 {
				t.Errorf("the patch takes away or changes %v", lost)
			}
		})
	}
}

// missing lists the paths of what a has and b has not.
func missing(path string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		b, _ := b.(map[string]any)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(a)) {
			out = append(out, missing(path+"/"+key, a[key], b[key])...)
		}
		return out
	case []any:
		b, _ := b.([]any)
		if len(b) < len(a) {
			return []string{path}
		}
		var out []string
		for i := range a {
			out = append(out, missing(path+"[]", a[i], b[i])...)
		}
		return out
	}
	if a != b {
		return []string{path}
	}
	return nil
}
