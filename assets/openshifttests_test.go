package assets_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// capabilities are those that the storage tests of Kubernetes 1.36 know
// (test/e2e/storage/framework/testdriver.go).
var capabilities = []string{
	"persistence", "block", "fsGroup", "volumeMountGroup", "exec", "snapshotDataSource", "snapshotMetadata", "groupSnapshot",
	"pvcDataSource", "multipods", "RWX", "controllerExpansion", "nodeExpansion", "offlineExpansion", "onlineExpansion",
	"volumeLimits", "singleNodeVolume", "topology", "capacity", "FSResizeFromSourceNotSupported", "readWriteOncePod",
	"multiplePVsSameID", "capReadOnlyMany", "seLinuxMount",
}

type fileClass struct{ FromFile string }

// TestOpenShiftTests: openshift-tests ignores what it does not know, and a typing error would
// silently lose tests.
func TestOpenShiftTests(t *testing.T) {
	for _, d := range driver.All {
		var manifest struct {
			ShortName                   string
			StorageClass, SnapshotClass fileClass
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
			"StorageClass":          {manifest.StorageClass.FromFile, "storageclass.yaml"},
			"snapshot class":        {manifest.SnapshotClass.FromFile, "snapshotclass.yaml"},
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

// TestClassesOfOpenShiftTests: they are the operator's own, whose parameters of the Ceph
// cluster the command in test/README.md fills in.
func TestClassesOfOpenShiftTests(t *testing.T) {
	for _, d := range driver.All {
		place := map[bool]string{false: "pool", true: "fsName"}[d.NeedsFilesystem]
		for file, want := range map[string]struct {
			asset      string
			parameters map[string]any
		}{
			"storageclass.yaml.in":  {assets.StorageClass, map[string]any{"clusterID": "CLUSTER_ID", place: "PLACE"}},
			"snapshotclass.yaml.in": {assets.VolumeSnapshotClass, map[string]any{"clusterID": "CLUSTER_ID"}},
		} {
			content, err := os.ReadFile(filepath.Join("..", "test", "e2e", d.Kind, file))
			if err != nil {
				t.Fatal(err)
			}
			var have, own map[string]any
			asset(t, d, want.asset, &own)
			if err := yaml.UnmarshalStrict(content, &have); err != nil {
				t.Fatal(err)
			}
			// Labels and annotations are the operator's and the administrator's.
			own["metadata"] = map[string]any{"name": own["metadata"].(map[string]any)["name"]}
			maps.Copy(own["parameters"].(map[string]any), want.parameters)
			if diff := cmp.Diff(own, have); diff != "" {
				t.Errorf("%s: %s is not the operator's class (-own +have):\n%s", d.Kind, file, diff)
			}
		}
	}
}
