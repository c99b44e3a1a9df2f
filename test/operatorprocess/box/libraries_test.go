package box

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLibraries(t *testing.T) {
	// Short, so that its name fits where the dynamic linker's was.
	elsewhere, err := os.MkdirTemp("/tmp", "l")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(elsewhere) })
	original, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	linker, err := searched("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if len(linker) == 0 {
		t.Fatal("this program, which is linked with librados or C's library, names no dynamic linker")
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	at := bytes.Index(original, []byte(linker[0]+"/ld-linux"))
	if at < 0 {
		t.Fatalf("no dynamic linker of Linux in %s", linker[0])
	}
	end := at + bytes.IndexByte(original[at:], 0)
	moved := append([]byte(elsewhere+"/l"), make([]byte, end-at)...)[:end-at]
	tests := map[string]struct {
		reason, program string
		want            []Mount
	}{
		"Machine": {"the machine's are there anyway", "/proc/self/exe", nil},
		"Other":   {"another release's are where it was unpacked", file("other", slices.Concat(original[:at], moved, original[end:])), []Mount{{Source: elsewhere, Target: elsewhere}}},
		"Script":  {"its interpreter is the machine's", file("script", []byte("#!/bin/sh\nexec true\n")), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := libraries(tc.program)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}
