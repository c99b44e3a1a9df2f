package repository

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRelease: what `make release` writes is the manifests but for what it was given.
func TestRelease(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	const reporting = "- --report-cluster-operator"
	tests := map[string]struct {
		reason  string
		release Release
		file    string
		want    []string
	}{
		"OpenShift": {
			"all that may be given, and a version that YAML takes for a number", Release{Version: "1234567", Image: "r.example/o:1", DriverImage: "r.example/d:1", Reporting: true}, "10_deployment.yaml",
			[]string{"image: r.example/o:1", reporting, `value: "1234567"`, "value: r.example/o:1", "value: r.example/d:1"},
		},
		"Beside": {
			"cluster-storage-operator reports, and ceph-csi is the manifests'", Release{Version: "4.22.0", Image: "r.example/o:1"}, "10_deployment.yaml",
			[]string{"image: r.example/o:1", `value: "4.22.0"`, "value: r.example/o:1"},
		},
		"Sidecars": {
			"those of one release, and nothing else", Release{Version: "4.22.0", Image: "r.example/o:1", Sidecars: "4.22"}, "10_deployment.yaml",
			[]string{
				"image: r.example/o:1", `value: "4.22.0"`, "value: r.example/o:1",
				"value: quay.io/openshift/origin-csi-external-provisioner:4.22", "value: quay.io/openshift/origin-csi-external-attacher:4.22",
				"value: quay.io/openshift/origin-csi-external-resizer:4.22", "value: quay.io/openshift/origin-csi-external-snapshotter:4.22",
				"value: quay.io/openshift/origin-csi-node-driver-registrar:4.22", "value: quay.io/openshift/origin-csi-livenessprobe:4.22",
				"value: quay.io/openshift/origin-kube-rbac-proxy:4.22",
			},
		},
		"Kubernetes": {
			"it reports always, once", Release{Version: "4.22.0", Image: "r.example/o:1", DriverImage: "r.example/d:1", Manifests: filepath.Join(root, "manifests", "kubernetes"), Reporting: true}, "10_deployment.yaml",
			[]string{reporting, `value: "4.22.0"`, "value: r.example/o:1", "value: r.example/d:1", "image: r.example/o:1"},
		},
		"Below": {
			"the folder has both", Release{Version: "4.22.0", Image: "r.example/o:1"}, "kubernetes/10_deployment.yaml",
			[]string{reporting, `value: "4.22.0"`, "value: r.example/o:1", "image: r.example/o:1"},
		},
		"Others": {"nothing else changes", Release{Version: "4.22.0", Image: "r.example/o:1"}, "06_granted_clusterrole.yaml", nil},
	}
	t.Setenv("CEPH_CSI_IMAGE", "/archive.tar")
	t.Setenv("REPORT", "yes")
	t.Setenv("SIDECARS", "4.0")
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "release")
			if err := tc.release.Write(t.Context(), folder); err != nil {
				t.Fatal(err)
			}
			manifests := tc.release.Manifests
			if manifests == "" {
				manifests = filepath.Join(root, "manifests")
			}
			// Where cluster-storage-operator runs, the namespace is everybody's, and not to go with what was written.
			if _, err := os.Stat(filepath.Join(folder, "01_namespace.yaml")); (err == nil) != tc.release.Reporting {
				t.Errorf("%s: reporting %t, namespace: %v", tc.reason, tc.release.Reporting, err)
			}
			shipped, written := lines(t, filepath.Join(manifests, tc.file)), lines(t, filepath.Join(folder, tc.file))
			got := slices.DeleteFunc(slices.Clone(written), func(line string) bool { return slices.Contains(shipped, line) && line != reporting })
			added := len(written) - len(shipped)
			if !slices.Equal(got, tc.want) || added != 0 && added != 1 {
				t.Errorf("%s: the lines that differ are %q, want %q", tc.reason, got, tc.want)
			}
			if text := strings.Join(written, "\n"); strings.Contains(text, "0.0.1-snapshot") || strings.Contains(text, Unreleased) {
				t.Errorf("%s: something unreleased is left in\n%s", tc.reason, text)
			}
		})
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(content)) {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// TestReleaseRefuses: what no cluster can run is not written.
func TestReleaseRefuses(t *testing.T) {
	const image = "r.example:5000/o@sha256:0"
	for name, tc := range map[string]struct {
		reason  string
		release Release
		want    string
	}{
		"Unversioned":   {"a variable of another shell", Release{Image: image}, "VERSION= must be of letters, digits and any of .+_-"},
		"Version":       {"sed would take it for what was found", Release{Version: "1&2", Image: image}, "VERSION= must be"},
		"Local":         {"it is built here, and nowhere to be pulled from", Release{Version: "4.22.0", Image: "o:latest"}, "IMAGE= must name the operator's image as the cluster pulls it"},
		"URL":           {"container runtimes take none", Release{Version: "4.22.0", Image: "https://r.example/o:1"}, "IMAGE= must name"},
		"Separator":     {"it would end what sed is told", Release{Version: "4.22.0", Image: "r.example/o|1"}, "IMAGE= must name"},
		"Podman":        {"it is podman's name of what was built here", Release{Version: "4.22.0", Image: "localhost/o:1"}, "IMAGE= must name"},
		"Tag":           {"it would end what sed is told", Release{Version: "4.22.0", Image: image, Sidecars: "4#22"}, "SIDECARS= must be a release"},
		"LocalOfDriver": {"likewise", Release{Version: "4.22.0", Image: image, DriverImage: "cephcsi"}, "CEPH_CSI_IMAGE= must name ceph-csi's image"},
	} {
		folder := filepath.Join(t.TempDir(), "release")
		err := tc.release.Write(t.Context(), folder)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: got %v, want %q", name, tc.reason, err, tc.want)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}
