package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStorageTestRecipes(t *testing.T) {
	const registry = "registry.k8s.io/e2e-test-images/"
	got := map[string]string{}
	for _, r := range storageTestRecipes([]string{registry + "nginx:1.15-4", "invalid.registry.k8s.io/invalid/alpine:3.1", registry + "agnhost:2.63.0", registry + "busybox:1.37.0-1"}, os.Args[0]) {
		got[r.name] = r.entrypoint[0]
	}
	want := map[string]string{registry + "nginx:1.15-4": "/usr/bin/sh", registry + "agnhost:2.63.0": "/agnhost", registry + "busybox:1.37.0-1": "/usr/bin/sh"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStorageTestShell makes an image whose shell counts as the tests' scripts do.
func TestStorageTestShell(t *testing.T) {
	const name = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1"
	r := storageTestRecipes([]string{name}, "")[0]
	write, _, err := r.made(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), imageFile)
	if err := toFile(file, write); err != nil {
		t.Fatal(err)
	}
	image := read(t, file)
	for _, program := range []string{"usr/bin/sh", "usr/bin/dd", "usr/bin/sha256sum", "usr/bin/base64", "usr/bin/diff", "usr/sbin/blockdev"} {
		if image.files[program]&0o111 == 0 {
			t.Errorf("%s cannot be run: mode %o", program, image.files[program])
		}
	}
	shell, err := r.program(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(shell, "-c", "i=0; let i+=1; echo $i").CombinedOutput(); err != nil || string(out) != "1\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
