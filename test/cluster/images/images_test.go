package images

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images/archive"
)

// TestEnsure makes the images that need neither Ceph nor other modules.
func TestEnsure(t *testing.T) {
	tests := map[string]struct {
		reason     string
		name       string
		user       string
		entrypoint string
	}{
		"Sandbox":  {reason: "every pod needs it", name: Sandbox, user: nobody, entrypoint: "/pause"},
		"Workload": {reason: "test pods choose their user", name: Workload, entrypoint: "/usr/bin/workload"},
		"Proxy":    {reason: "OpenShift's is not root", name: "quay.io/openshift/origin-kube-rbac-proxy:latest", user: nobody, entrypoint: "/usr/bin/kube-rbac-proxy"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			made, err := Ensure(t.Context(), t.Output(), tc.name)
			if err != nil || len(made) != 1 || made[0].Name != tc.name {
				t.Fatalf("%s: got %v, %v", tc.reason, made, err)
			}
			image := read(t, made[0].File)
			if image.name != tc.name || image.user != tc.user || len(image.entrypoint) != 1 || image.entrypoint[0] != tc.entrypoint {
				t.Errorf("%s: got %+v", tc.reason, image)
			}
			if mode := image.files[strings.TrimPrefix(tc.entrypoint, "/")]; mode&0o111 == 0 {
				t.Errorf("%s cannot be run: mode %o", tc.entrypoint, mode)
			}
			again, err := Ensure(t.Context(), t.Output(), tc.name)
			if err != nil || again[0] != made[0] {
				t.Errorf("made a second time: %v, %v", again, err)
			}
		})
	}
}

func TestEnsureUnknown(t *testing.T) {
	if made, err := Ensure(t.Context(), t.Output(), "quay.io/somebody/else:latest"); err == nil {
		t.Errorf("got %v", made)
	}
}

// loaded is an archive as those see it who import it.
type loaded struct {
	name, user string
	entrypoint []string
	files      map[string]int64
}

func read(t *testing.T, file string) loaded {
	t.Helper()
	contents := map[string][]byte{}
	out := loaded{files: map[string]int64{}}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	each(t, in, func(header *tar.Header, content io.Reader) {
		if !strings.HasSuffix(header.Name, "/layer.tar") {
			contents[header.Name], _ = io.ReadAll(content)
			return
		}
		each(t, content, func(header *tar.Header, _ io.Reader) { out.files[header.Name] = header.Mode })
	})
	var manifests []struct {
		Config   string
		RepoTags []string
	}
	var config struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	if err := json.Unmarshal(contents["manifest.json"], &manifests); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(contents[manifests[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	out.name, out.user, out.entrypoint = manifests[0].RepoTags[0], config.Config.User, config.Config.Entrypoint
	return out
}

func each(t *testing.T, r io.Reader, do func(*tar.Header, io.Reader)) {
	t.Helper()
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(header, in)
	}
}

func TestForget(t *testing.T) {
	folder := t.TempDir()
	now := time.Now()
	for name, used := range map[string]time.Time{"driver-old": now.Add(-48 * time.Hour), "driver-new": now, "operator-old": now.Add(-48 * time.Hour)} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chtimes(path, used, used)); err != nil {
			t.Fatal(err)
		}
	}
	if err := forget(folder, "driver", now.Add(-unusedFor)); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	if diff := cmp.Diff([]string{filepath.Join(folder, "driver-new"), filepath.Join(folder, "operator-old")}, left); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestDockerfile(t *testing.T) {
	tests := map[string]struct {
		reason  string
		content string
		want    started
		fails   bool
	}{
		"LastStage": {
			reason:  "the builder's user is not the image's",
			content: "FROM a AS builder\nUSER 0\nENTRYPOINT [\"/x\"]\nFROM b\nUSER 1001\nENTRYPOINT [\"/usr/bin/operator\"]\n",
			want:    started{user: "1001", entrypoint: []string{"/usr/bin/operator"}},
		},
		"NoUser":  {reason: "it would be root", content: "FROM b\nENTRYPOINT [\"/x\"]\n", fails: true},
		"NoEntry": {reason: "nothing would start", content: "FROM b\nUSER 1001\n", fails: true},
		"Shell":   {reason: "arguments would not reach the program", content: "FROM b\nUSER 1001\nENTRYPOINT /x\n", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseDockerfile(tc.content)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(started{})); diff != "" || (err != nil) != tc.fails {
				t.Errorf("%s: %v\n%s", tc.reason, err, diff)
			}
		})
	}
	if _, err := dockerfile(); err != nil {
		t.Error(err)
	}
}

func TestReplacement(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason, value string
		want          replaced
		fails         bool
	}{
		"None":    {reason: "the stand-in stays"},
		"Archive": {reason: "a file is imported", value: file, want: replaced{file: file}},
		"Name":    {reason: "a registry has it", value: "quay.io/cephcsi/cephcsi:v3.18.0", want: replaced{pull: "quay.io/cephcsi/cephcsi:v3.18.0"}},
		"Digest":  {reason: "a registry has it", value: "localhost:5000/csi@sha256:" + strings.Repeat("0", 64), want: replaced{pull: "localhost:5000/csi@sha256:" + strings.Repeat("0", 64)}},
		"Missing": {reason: "a path of no file", value: file + ".gz", fails: true},
		"Folder":  {reason: "a path of no file", value: filepath.Dir(file), fails: true},
		"Short":   {reason: "containerd would look for it elsewhere than docker", value: "cephcsi", fails: true},
		"Upper":   {reason: "no name of an image", value: "quay.io/CephCSI/cephcsi", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := parseReplacement(tc.value); got != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s: got %+v, %v", tc.reason, got, err)
			}
		})
	}
}

// TestReplaced: the operator's image as `make test-image` leaves it, and one that a registry has.
func TestReplaced(t *testing.T) {
	const operator, driver = "quay.io/openshift/origin-ceph-csi-driver-operator:latest", "quay.io/openshift/origin-ceph-csi-driver:latest"
	const published = "quay.io/cephcsi/cephcsi:v3.18.0"
	given := filepath.Join(t.TempDir(), imageFile)
	image := archive.Image{Name: "localhost/somebody:v1", User: "1001", Entrypoint: []string{"/usr/bin/operator"}, Layers: [][]archive.Entry{{}}}
	if err := toFile(given, func(w io.Writer) error { return archive.Write(w, image, t.TempDir()) }); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ reason, program, script, variable, value, image, said string }{
		"Operator": {reason: "the Dockerfile's is tried", variable: "OPERATOR_IMAGE", value: given, image: operator},
		"Podman": {
			reason: "the nodes reach no registry", program: "podman", variable: "CEPH_CSI_IMAGE", value: published, image: driver,
			script: `[ "$1 $2" = "pull ` + published + `" ] || [ "$1 $2 $4" = "save --output ` + published + `" ] && { [ "$1" = pull ] || cp ` + given + ` "$3"; }`,
		},
		"Skopeo": {
			reason: "it keeps no images of its own", program: "skopeo", variable: "CEPH_CSI_IMAGE", value: published, image: driver,
			script: `[ "$1 $2" = "copy docker://` + published + `" ] && cp ` + given + ` "${3#docker-archive:}"`,
		},
		"Refused": {reason: "the registry wants to know who asks", program: "docker", script: "exit 1", variable: "CEPH_CSI_IMAGE", value: published, image: driver, said: "docker pull " + published},
		"Nothing": {reason: "no program to pull with", variable: "CEPH_CSI_IMAGE", value: published, image: driver, said: "needs podman, docker or skopeo"},
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	shell := "#!" + sh + "\nPATH=" + os.Getenv("PATH") + "\n"
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if tc.program != "" {
				if err := os.WriteFile(filepath.Join(folder, tc.program), []byte(shell+tc.script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", folder)
			t.Setenv(tc.variable, tc.value)
			made, err := Ensure(t.Context(), t.Output(), tc.image)
			if tc.said != "" {
				if err == nil || !strings.Contains(err.Error(), tc.said) {
					t.Fatalf("%s: got %v", tc.reason, err)
				}
				return
			}
			if err != nil || len(made) != 1 {
				t.Fatalf("%s: got %v, %v", tc.reason, made, err)
			}
			if got := read(t, made[0].File); got.name != tc.image || got.user != image.User || got.entrypoint[0] != image.Entrypoint[0] {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
		})
	}
}
