package rules

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeVariablesExist: what a README sets for make is read there or by what make runs.
func TestReadmeVariablesExist(t *testing.T) {
	// openshift-tests reads these.
	known := []string{"TEST_CSI_DRIVER_FILES", "TEST_OCP_CSI_DRIVER_FILES"}
	read := mustRead(t, "Makefile") + mustRead(t, "test/install-dependencies.sh")
	for _, f := range mustSources(t) {
		read += strings.Join(texts(f), "\n") + "\n"
	}
	set := readCode(everyReadme(t)).find(`(?:^|\s)([A-Z][A-Z_]+)=`)
	for _, name := range atLeast(t, 10, "variables", set) {
		if !slices.Contains(known, name) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(read) {
			t.Errorf("a README sets %s, which nothing reads", name)
		}
	}
}
