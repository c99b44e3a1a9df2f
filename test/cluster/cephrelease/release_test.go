package cephrelease

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindMirror(t *testing.T) {
	tests := map[string]struct {
		reason, targets, want string
	}{
		"First": {
			reason:  "security updates and other people's packages are elsewhere",
			targets: "Debian oldstable-security http://a/security/\nSomebody nodistro http://b/\n\nDebian oldstable http://c/debian/\nDebian oldstable-updates http://c/debian/\n",
			want:    "http://c/debian/",
		},
		"None": {reason: "a mirror is nobody's to guess", targets: "Ubuntu noble http://a/\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := findMirror(tc.targets); got != tc.want {
				t.Errorf("got %q, want %q: %s", got, tc.want, tc.reason)
			}
		})
	}
}

func TestUnknownRelease(t *testing.T) {
	t.Setenv(Variable, "17.2")
	_, err := Chosen(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), `no Ceph "17.2": known are 18.2, 20.2`) {
		t.Errorf("got %v", err)
	}
}

// unpacked makes a folder that looks like unpacked packages.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{
		"usr/lib/x86-linux/librados.so.2", "usr/lib/x86-linux/ceph/erasure-code/x", "usr/lib/x86-linux/rados-classes/x",
		"usr/lib64/ld-linux-x86.so.2", "usr/bin/python3.13", "usr/share/ceph/mgr/x",
	} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStarters(t *testing.T) {
	dir := unpacked(t)
	if err := writeStarters(dir, "/root"); err != nil {
		t.Fatal(err)
	}
	linker := "'/root/usr/lib64/ld-linux-x86.so.2' --argv0 "
	path := " --library-path '/root/usr/lib/x86-linux:/root/usr/lib/x86-linux/ceph:/root/usr/lib/x86-linux/systemd:/root/usr/lib' "
	for program, want := range map[string]string{
		"ceph-mon": "#!/bin/sh\nexec " + linker + "ceph-mon" + path + "'/root/usr/bin/ceph-mon' \"$@\"\n",
		"ceph":     "#!/bin/sh\nexec env PYTHONHOME='/root/usr' PYTHONPATH= " + linker + "ceph" + path + "/root/usr/bin/python3.13 '/root/usr/bin/ceph' \"$@\"\n",
		"ceph-mgr": "#!/bin/sh\nexec env PYTHONHOME='/root/usr' PYTHONPATH= " + linker + "ceph-mgr" + path + "'/root/usr/bin/ceph-mgr' \"$@\"\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, startersFolder, program))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", program, diff)
		}
	}
}

func TestSearchPath(t *testing.T) {
	t.Setenv("PATH", "/bin")
	for want, p := range map[string]Programs{"/bin": {}, "/root/starters:/bin": {root: "/root"}} {
		if got := p.SearchPath(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFolders(t *testing.T) {
	dir := unpacked(t)
	got, err := Programs{root: dir}.Folders()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"osd class dir":    dir + "/usr/lib/x86-linux/rados-classes",
		"erasure code dir": dir + "/usr/lib/x86-linux/ceph/erasure-code",
		"plugin dir":       dir + "/usr/lib/x86-linux/ceph",
		"mgr module path":  dir + "/usr/share/ceph/mgr",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBuildEnvironment(t *testing.T) {
	dir := unpacked(t)
	if err := writeLinkFolder(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Programs{root: dir, release: "18.2"}.BuildEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CGO_CFLAGS=-O2 -g -I" + dir + "/link/include", "CEPH_RELEASE=18.2", "GO_TAGS=reef"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, variable := range got {
		if strings.HasPrefix(variable, "CGO_LDFLAGS=") {
			t.Errorf("%s stands in every package with cgo, the standard library's too, and all that imports them is built anew", variable)
		}
	}
	target, err := os.Readlink(filepath.Join(dir, "link/lib/librados.so"))
	if err != nil || target != "../../usr/lib/x86-linux/librados.so" {
		t.Errorf("librados.so is a link to %q, %v", target, err)
	}
}
