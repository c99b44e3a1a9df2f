// Package golden compares committed files with what they should hold.
package golden

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Compare fails a test where the file at path does not hold want. UPDATE_GOLDEN=1, which `make
// update` sets, writes it first.
func Compare(t *testing.T, path, want string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is outdated (make update): -want +got\n%s", path, diff)
	}
}
