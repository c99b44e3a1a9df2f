package assets_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// capabilities are those that Kubernetes' storage tests know.
var capabilities = []string{
	"persistence", "block", "fsGroup", "volumeMountGroup", "exec", "snapshotDataSource", "pvcDataSource", "multipods", "RWX",
	"RWXFilesystemOnly", "RWXBlockOnly", "controllerExpansion", "nodeExpansion", "offlineExpansion", "onlineExpansion",
	"volumeLimits", "singleNodeVolume", "topology", "capacity", "FSResizeFromSourceNotSupported", "readWriteOncePod",
	"multiplePVsSameID", "capReadOnlyMany",
}

type existingClass struct{ FromExistingClassName string }

// TestOpenShiftTests: openshift-tests ignores what it does not know, and a typing error would
// silently lose tests.
func TestOpenShiftTests(t *testing.T) {
	for _, d := range driver.All {
		var manifest struct {
			ShortName                   string
			StorageClass, SnapshotClass existingClass
			DriverInfo                  struct {
				Name               string
				SupportedFsType    map[string]struct{}
				SupportedSizeRange struct{ Min, Max string }
				Capabilities       map[string]bool
			}
		}
		var ocp struct {
			Driver        string
			LUNStressTest struct {
				PodsTotal int
				Timeout   string
			}
		}
		for file, into := range map[string]any{"manifest.yaml": &manifest, "ocp-manifest.yaml": &ocp} {
			path := filepath.Join("..", "test", "e2e", d.Kind, file)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.UnmarshalStrict(content, into); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		for _, problem := range unequal(map[string][2]any{
			"driver":                {manifest.DriverInfo.Name, d.Name},
			"driver of OpenShift's": {ocp.Driver, d.Name},
			"StorageClass":          {manifest.StorageClass.FromExistingClassName, d.StorageClass},
			"snapshot class":        {manifest.SnapshotClass.FromExistingClassName, d.SnapshotClass},
			"many pods":             {ocp.LUNStressTest.PodsTotal >= 257, true},
			"file":                  {manifest.DriverInfo.Capabilities["RWX"], d.NeedsFilesystem},
			"block":                 {manifest.DriverInfo.Capabilities["block"], !d.NeedsFilesystem},
		}) {
			t.Errorf("%s: %s", d.Kind, problem)
		}
		for name := range manifest.DriverInfo.Capabilities {
			if !slices.Contains(capabilities, name) {
				t.Errorf("%s: capability %s is unknown", d.Kind, name)
			}
		}
	}
}
