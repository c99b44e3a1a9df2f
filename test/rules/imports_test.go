package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are the packages in the order in which they may import each other: only downwards,
// and no two of the same layer unless it says so.
var layers = []struct {
	name     string
	packages []string
	// together: packages of this layer may import each other.
	together bool
}{
	{name: "subcommands", packages: []string{"cmd/ceph-csi-driver-operator"}},
	{name: "uninstall", packages: []string{"pkg/uninstall"}},
	{name: "kinds of storage", packages: []string{"pkg/teardown/images", "pkg/teardown/subvolumes"}},
	{name: "wiring", packages: []string{"pkg/operator", "pkg/process", "pkg/clusterstorage", "pkg/teardown", "pkg/check"}},
	{name: "status", packages: []string{"pkg/status"}},
	{name: "features", packages: []string{
		"pkg/classes", "pkg/connection", "pkg/credentials", "pkg/gate", "pkg/infraid", "pkg/monitors", "pkg/nodes", "pkg/pools", "pkg/presence", "pkg/clusterstorage/servingcerts", "pkg/removal", "pkg/settings", "pkg/tags", "pkg/virtualization",
	}},
	{name: "foundation", packages: []string{
		"assets", "pkg/ceph", "pkg/ceph/cephtest", "pkg/ceph/rados", "pkg/clusterstorage/configs", "pkg/condition", "pkg/condition/conditiontest", "pkg/controller", "pkg/controller/controllertest", "pkg/driver", "pkg/proof", "pkg/shell", "pkg/state", "pkg/teardown/teardowntest", "pkg/usage",
	}, together: true},
}

func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(l struct {
		name     string
		packages []string
		together bool
	}) bool {
		return slices.Contains(l.packages, pkg)
	})
}

func TestImportsPointOneWay(t *testing.T) {
	for _, f := range mustSources(t) {
		if strings.HasPrefix(f.dir, "test/") {
			continue
		}
		from := layerOf(f.dir)
		if from < 0 {
			t.Errorf("%s: package %s has no layer: add it to the table in this test", f.path, f.dir)
			continue
		}
		for _, name := range f.imports {
			imported, ours := strings.CutPrefix(name, module)
			if !ours || imported == f.dir {
				continue
			}
			if f.test && (strings.HasPrefix(imported, "test/") || imported == "pkg/ceph/cephtest") {
				continue
			}
			to := layerOf(imported)
			if to < from || to == from && !layers[to].together {
				t.Errorf("%s: package %s (%s) must not import %s", f.path, f.dir, layers[from].name, imported)
			}
		}
	}
}

func TestBoundaries(t *testing.T) {
	tests := map[string]struct {
		reason  string
		imports string
		only    []string
	}{
		"GoCeph": {
			reason:  "only pkg/ceph/rados may need cgo and librados, and what lays volumes out for tests, the stand-in of ceph-csi among it",
			imports: "github.com/ceph/go-ceph",
			only:    []string{"pkg/ceph/rados", "test/volumes", "test/standins/cephcsi"},
		},
		"Testify": {
			reason:  "tests are tables of the standard library",
			imports: "github.com/stretchr/testify",
		},
		"Ginkgo": {
			reason:  "Ginkgo is for the end-to-end suites",
			imports: "github.com/onsi/",
			only:    []string{"test/e2e"},
		},
		"FakeCeph": {
			reason:  "the in-memory Ceph is for tests",
			imports: module + "pkg/ceph/cephtest",
			only:    []string{"pkg/ceph/cephtest"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, f := range mustSources(t) {
				for _, imported := range f.imports {
					allowed := slices.ContainsFunc(tc.only, func(dir string) bool { return strings.HasPrefix(f.dir, dir) })
					if strings.HasPrefix(imported, tc.imports) && !allowed && !(f.test && name == "FakeCeph") {
						t.Errorf("%s imports %s: %s", f.path, imported, tc.reason)
					}
				}
			}
		})
	}
}

// TestConfigsStandAlone: what cluster-storage-operator vendors changes the version of nothing else.
func TestConfigsStandAlone(t *testing.T) {
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "pkg/clusterstorage/configs/go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), "require") {
		t.Errorf("pkg/clusterstorage/configs/go.mod must require nothing:\n%s", content)
	}
}

func mustSources(t *testing.T) []file {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := sources(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found only %d Go files below %s", len(files), dir)
	}
	return files
}
