package rules

import (
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
	{name: "wiring", packages: []string{"pkg/operator", "pkg/process", "pkg/clusterstorage", "pkg/teardown", "pkg/check"}},
	{name: "status", packages: []string{"pkg/status"}},
	{name: "features", packages: []string{
		"pkg/classes", "pkg/connection", "pkg/credentials", "pkg/gate", "pkg/infraid", "pkg/monitors", "pkg/nodes", "pkg/pools", "pkg/presence", "pkg/clusterstorage/servingcerts", "pkg/removal", "pkg/settings", "pkg/tags", "pkg/virtualization",
	}},
	{name: "foundation", packages: []string{
		"assets", "pkg/ceph", "pkg/ceph/cephtest", "pkg/ceph/rados", "pkg/clusterstorage/configs", "pkg/condition", "pkg/condition/conditiontest", "pkg/controller", "pkg/driver", "pkg/proof", "pkg/shell", "pkg/state", "pkg/usage",
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

// TestConfigsStandAlone: cluster-storage-operator vendors the package, and builds
// without cgo.
func TestConfigsStandAlone(t *testing.T) {
	allowed := []string{"github.com/openshift/api/", "github.com/openshift/library-go/"}
	found := 0
	for _, f := range mustSources(t) {
		if f.dir != "pkg/clusterstorage/configs" || f.test {
			continue
		}
		found++
		for _, imported := range f.imports {
			standard := !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".")
			if !standard && !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(imported, prefix) }) {
				t.Errorf("%s imports %s: only openshift/api, library-go and the standard library are allowed", f.path, imported)
			}
		}
	}
	if found == 0 {
		t.Error("found no source of pkg/clusterstorage/configs")
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
