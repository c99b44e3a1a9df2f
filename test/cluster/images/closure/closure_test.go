package closure

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAdd compares with the dynamic linker's own answer.
func TestAdd(t *testing.T) {
	program, err := exec.LookPath("ceph-mon")
	if err != nil {
		t.Fatal("the Ceph daemons are missing: run `make dependencies`")
	}
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(program); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, word := range strings.Fields(string(out)) {
		if !filepath.IsAbs(word) {
			continue
		}
		found++
		real, err := filepath.EvalSymlinks(word)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(c.Files(), real) {
			t.Errorf("%s (%s) is missing", word, real)
		}
	}
	if found < 5 {
		t.Errorf("ldd names only %d libraries: %s", found, out)
	}
}

// TestLinks: a program is found by every name that leads to it.
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	c := &Closure{links: map[string]string{}, files: map[string]bool{}}
	if err := c.Add(filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{filepath.Join(dir, "link"): "real"}, c.Links()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{filepath.Join(dir, "real")}, c.Files()); diff != "" {
		t.Error(diff)
	}
}

func TestMissing(t *testing.T) {
	c := &Closure{links: map[string]string{}, files: map[string]bool{}}
	if err := c.Add("/nowhere/program"); err == nil {
		t.Error("a missing program is no error")
	}
	// Without folders to search, no library is found.
	if err := c.Add("/bin/sh"); err == nil || !strings.Contains(err.Error(), "needs libc") {
		t.Errorf("got %v", err)
	}
}

func TestConfiguredFolders(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"ld.so.conf": "include conf.d/*.conf\n/last\n", "a.conf": "# words\n/first # why\n\n"} {
		if name != "ld.so.conf" {
			name = filepath.Join("conf.d", name)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := configuredFolders(filepath.Join(dir, "ld.so.conf"))
	if diff := cmp.Diff([]string{"/first", "/last"}, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
