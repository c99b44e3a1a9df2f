package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
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

// TestReadmeHasEveryAlert compares the table of alerts with those that are applied.
func TestReadmeHasEveryAlert(t *testing.T) {
	var object struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert, For string
					Labels     map[string]string
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(mustRead(t, "assets/shared/prometheusrule.yaml")), &object); err != nil {
		t.Fatal(err)
	}
	var want, rows []string
	for _, group := range object.Spec.Groups {
		for _, r := range group.Rules {
			want = append(want, fmt.Sprintf("%s %s %s", r.Alert, r.Labels["severity"], r.For))
		}
	}
	for _, row := range table(mustRead(t, "pkg/status/README.md"), "Alert", "Severity", "After") {
		rows = append(rows, strings.Join(row[:3], " "))
	}
	if diff := cmp.Diff(atLeast(t, 8, "alerts", want), rows); diff != "" {
		t.Errorf("pkg/status/README.md (-applied +explained):\n%s", diff)
	}
}
