package rules

import (
	"slices"
	"strings"
	"testing"
)

// TestReadmeHasEveryMetric compares the table of metrics with those that pkg/status declares.
func TestReadmeHasEveryMetric(t *testing.T) {
	const prefix = "ceph_csi_driver_operator_"
	var rows []string
	for _, row := range table(everyReadme(t), "Metric") {
		rows = append(rows, row[0])
	}
	var declared []string
	for _, f := range mustSources(t) {
		if f.path == "pkg/status/metrics.go" {
			declared = append(declared, texts(f)...)
		}
	}
	declared = slices.DeleteFunc(declared, func(text string) bool { return !strings.HasPrefix(text, prefix) })
	for _, name := range atLeast(t, 8, "metrics declared", declared) {
		if !slices.Contains(rows, name) {
			t.Errorf("pkg/status declares %s, which no README explains", name)
		}
	}
	if len(rows) != len(declared) {
		t.Errorf("the READMEs explain %d metrics, pkg/status declares %d", len(rows), len(declared))
	}
}
