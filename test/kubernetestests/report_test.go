package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written is what Ginkgo writes of tests.
func written(t *testing.T, report string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestJudge(t *testing.T) {
	file := written(t, `[{"SuiteSucceeded": false, "SpecReports": [
		{"LeafNodeType": "BeforeSuite", "State": "passed"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]"], "LeafNodeText": "works", "State": "passed"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]"], "LeafNodeText": "fails", "State": "failed", "Failure": {"Message": "boom\nand more"}},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]"], "LeafNodeText": "cannot", "State": "skipped", "Failure": {"Message": "not asked for"}},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]"], "LeafNodeText": "cannot either", "State": "skipped", "Failure": {"Message": "not asked for"}},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]"], "LeafNodeText": "was not chosen", "State": "skipped"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: a]", ""], "LeafNodeText": "restores", "State": "passed"},
		{"LeafNodeType": "It", "ContainerHierarchyTexts": ["External", "[Driver: b]"], "LeafNodeText": "works", "State": "passed"}
	]}]`)
	all, err := outcomes(file, "External [Driver: a] ")
	if err != nil {
		t.Fatal(err)
	}
	v := judge([]string{"works", "restores", "fails", "cannot", "cannot either", "gone"}, all)
	if diff := cmp.Diff([]string{"works", "restores"}, v.passed); diff != "" {
		t.Error(diff)
	}
	var out bytes.Buffer
	v.print(&out)
	want := "  failed: fails\n    boom\n  missing: gone\n    it was not run\n  2 skipped: not asked for\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestOutcomesOfBrokenRun(t *testing.T) {
	tests := map[string]struct{ reason, report, want string }{
		"Interrupted": {"what passed until then is not all that passes", `[{"SpecialSuiteFailureReasons": ["Interrupted by User"]}]`, "Interrupted by User"},
		"BeforeSuite": {
			"no test has run",
			`[{"SpecReports": [{"LeafNodeType": "SynchronizedBeforeSuite", "State": "failed", "Failure": {"Message": "no nodes"}}]}]`,
			"no nodes",
		},
		"Cut off": {"the runner was killed", `[{"SpecReports": [`, "report.json"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := outcomes(written(t, tc.report), ""); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}
