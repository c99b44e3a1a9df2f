package assets_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// images are what the tests render with: distinct, and one that YAML would read as a boolean
// if it were not quoted.
func images() map[string]string {
	out := map[string]string{}
	for _, name := range assets.RequiredImages() {
		out[name] = "registry.example.com/" + name + ":test"
	}
	out["PROVISIONER_IMAGE"] = "n"
	return out
}

// render renders the assets of a driver, or ends the test.
func render(t *testing.T, d driver.Driver) assets.Set {
	t.Helper()
	set, err := assets.New(assets.Values{Driver: d, Images: images()})
	if err != nil {
		t.Fatalf("rendering the assets of %s: %v", d.Kind, err)
	}
	return set
}

// content returns an asset, or ends the test.
func content(t *testing.T, set assets.Set, name string) []byte {
	t.Helper()
	out, err := set.Asset(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGolden compares the whole rendering with testdata/golden/<driver>, so that every change
// of what is deployed is a diff to review. UPDATE_GOLDEN=1 rewrites the files.
func TestGolden(t *testing.T) {
	for _, d := range driver.All {
		t.Run(d.Kind, func(t *testing.T) {
			dir := filepath.Join("testdata", "golden", d.Kind)
			set := render(t, d)
			if os.Getenv("UPDATE_GOLDEN") != "" {
				writeGolden(t, dir, set)
			}
			have := map[string]string{}
			for _, name := range set.Names() {
				have[name] = string(content(t, set, name))
			}
			if diff := cmp.Diff(readGolden(t, dir), have); diff != "" {
				t.Errorf("rendering differs from %s (-golden +rendered); UPDATE_GOLDEN=1 go test ./assets/ rewrites it:\n%s", dir, diff)
			}
		})
	}
}

func writeGolden(t *testing.T, dir string, set assets.Set) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content(t, set, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readGolden(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		out[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatalf("reading golden files: %v", err)
	}
	return out
}
