package programs

import (
	"os"
	"regexp"
	"testing"
)

// TestStorageTestsVersions: with a package of another version, thousands that import it are compiled again.
func TestStorageTestsVersions(t *testing.T) {
	ours, controlPlanes := versions(t, "../storagetests/go.mod"), versions(t, "../binaries/go.mod")
	same := 0
	for module, version := range ours {
		if other, both := controlPlanes[module]; both && other != version {
			t.Errorf("%s: storagetests has %s, binaries %s", module, version, other)
		} else if both {
			same++
		}
	}
	if same < 100 {
		t.Errorf("only %d modules are in both", same)
	}
}

var requirement = regexp.MustCompile(`(?m)^\t(\S+(?: =>.*)?) (v\S+)`)

// versions are those of a go.mod file, also of what it replaces.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, match := range requirement.FindAllStringSubmatch(string(content), -1) {
		out[match[1]] = match[2]
	}
	return out
}
