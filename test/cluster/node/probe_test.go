package node_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// probe is an archive with the image of testdata's program, which also serves as the sandboxes'.
func probe(t *testing.T) []wire.Image {
	t.Helper()
	dir := t.TempDir()
	program, archive := filepath.Join(dir, "probe"), filepath.Join(dir, "probe.tar")
	if err := programs.BuildOwn(t.Context(), "test/cluster/node/probe", program); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	layer := archiveOf(t, map[string][]byte{"probe": content})
	digest := fmt.Sprintf("%x", sha256.Sum256(layer))
	config := marshal(t, map[string]any{
		"architecture": "amd64", "os": "linux", "config": map[string]any{"Entrypoint": []string{"/probe"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest}},
	})
	manifest := marshal(t, []map[string]any{{"Config": "config.json", "RepoTags": []string{probeImage}, "Layers": []string{"layer.tar"}}})
	files := map[string][]byte{"config.json": config, "layer.tar": layer, "manifest.json": manifest}
	if err := os.WriteFile(archive, archiveOf(t, files), 0o644); err != nil {
		t.Fatal(err)
	}
	return []wire.Image{{Name: probeImage, File: archive}}
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func archiveOf(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, content := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
