package archive

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(t *testing.T) Image {
	t.Helper()
	source := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(source, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Image{Name: "example.test/a:1", User: "1001", Entrypoint: []string{"/usr/bin/a"}, Layers: [][]Entry{
		{{Path: "/lib", Link: "usr/lib"}, {Path: "/tmp", Mode: os.ModeDir | os.ModeSticky | 0o777}, {Path: "/etc/a/b", Content: []byte("b"), Mode: 0o644}},
		{{Path: "/usr/bin/a", Source: source}},
	}}
}

func written(t *testing.T, image Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, image, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// entries lists an archive's: the names, and what is in files.
func entries(t *testing.T, content []byte) ([]string, map[string][]byte) {
	t.Helper()
	var names []string
	contents := map[string][]byte{}
	for in := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return names, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		contents[header.Name], _ = io.ReadAll(in)
	}
}

func TestWriteIsReproducible(t *testing.T) {
	one, two := written(t, sample(t)), written(t, sample(t))
	if !bytes.Equal(one, two) {
		t.Error("the same files, another place, another archive")
	}
}

func TestLayers(t *testing.T) {
	_, contents := entries(t, written(t, sample(t)))
	var layers [][]string
	var manifests []manifest
	if err := json.Unmarshal(contents[manifestFile], &manifests); err != nil {
		t.Fatal(err)
	}
	for _, layer := range manifests[0].Layers {
		names, _ := entries(t, contents[layer])
		layers = append(layers, names)
	}
	want := [][]string{{"etc/", "etc/a/", "etc/a/b", "lib", "tmp/"}, {"usr/", "usr/bin/", "usr/bin/a"}}
	if diff := cmp.Diff(want, layers); diff != "" {
		t.Error(diff)
	}
}

func TestRename(t *testing.T) {
	oci := func(images string) []byte {
		var out bytes.Buffer
		w := tar.NewWriter(&out)
		if err := errors.Join(addFile(w, "oci-layout", []byte("{}")), addFile(w, indexFile, []byte(`{"schemaVersion":2,"manifests":[`+images+`]}`)), w.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	tests := map[string]struct {
		reason  string
		archive []byte
		file    string
		fails   string
	}{
		"Docker":     {reason: "podman save, docker save", archive: written(t, sample(t)), file: manifestFile},
		"OCI":        {reason: "skopeo and buildah", archive: oci(`{"digest":"sha256:0","annotations":{"` + ociName + `":"other"}}`), file: indexFile},
		"Two":        {reason: "nobody knows which", archive: oci(`{"digest":"sha256:0"},{"digest":"sha256:1"}`), fails: "2 images instead of one"},
		"Compressed": {reason: "containerd's tar reader would not mind, this one does", archive: []byte("\x1f\x8b" + strings.Repeat("x", 2000)), fails: "tar"},
		"Empty":      {reason: "no image", fails: "without compression"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := Rename(&out, bytes.NewReader(tc.archive), "example.test/new:2")
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%s: got %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			before, _ := entries(t, tc.archive)
			after, contents := entries(t, out.Bytes())
			if diff := cmp.Diff(before, after); diff != "" || !strings.Contains(string(contents[tc.file]), `"example.test/new:2"`) {
				t.Errorf("%s: %s\n%s", tc.reason, contents[tc.file], diff)
			}
		})
	}
}
