// Package alerts tries the alerts of the PrometheusRules on Prometheus' own engine. It is a module of
// its own: nothing else needs Prometheus.
package alerts

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

const (
	root      = "../.."
	namespace = "openshift-cluster-csi-drivers"
)

var kinds = []string{"rbd", "cephfs"}

type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func read(t *testing.T, into any, path ...string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}

// rules are the alerts of a driver, as they are applied.
func rules(t *testing.T, kind string) []rule {
	t.Helper()
	var object struct {
		Spec struct{ Groups []struct{ Rules []rule } }
	}
	read(t, &object, "assets", "testdata", "golden", kind, "prometheusrule.yaml")
	if len(object.Spec.Groups) != 1 || len(object.Spec.Groups[0].Rules) < 8 {
		t.Fatalf("%s: found %+v", kind, object)
	}
	return object.Spec.Groups[0].Rules
}

// TestRulesAreWhole: each alert says how bad it is, where, what it is and what to do.
func TestRulesAreWhole(t *testing.T) {
	for _, kind := range kinds {
		seen := map[string]bool{}
		for _, r := range rules(t, kind) {
			if seen[r.Alert] || !strings.HasPrefix(r.Alert, "CephCSI") {
				t.Errorf("%s: the name is not one of its own", r.Alert)
			}
			seen[r.Alert] = true
			if r.Labels["severity"] != "warning" && r.Labels["severity"] != "info" {
				t.Errorf("%s: severity %q; a critical one needs a runbook_url", r.Alert, r.Labels["severity"])
			}
			if r.Labels["driver"] != kind+".csi.ceph.com" {
				t.Errorf("%s: labels %v", r.Alert, r.Labels)
			}
			if summary := r.Annotations["summary"]; summary == "" || len(summary) > 140 {
				t.Errorf("%s: summary %q", r.Alert, summary)
			}
			if !regexp.MustCompile(`'(oc|ceph) `).MatchString(r.Annotations["description"]) {
				t.Errorf("%s: the description has no command: %s", r.Alert, r.Annotations["description"])
			}
			if hold, err := model.ParseDuration(r.For); err != nil || hold == 0 {
				t.Errorf("%s: for %q: %v", r.Alert, r.For, err)
			}
		}
	}
}

// scraped are what ServiceMonitors select: the ports by the job that prometheus-operator makes of
// them.
func scraped(t *testing.T, kind string) map[string]bool {
	t.Helper()
	golden, operator := []string{"assets", "testdata", "golden", kind}, []string{"assets", "csidriveroperators", "ceph-" + kind}
	out := map[string]bool{}
	for _, files := range [][2][]string{
		{append(slices.Clone(golden), "servicemonitor.yaml"), append(slices.Clone(golden), "static", "10_controller_metrics_service.yaml")},
		{append(slices.Clone(operator), "09_servicemonitor.yaml"), append(slices.Clone(operator), "01_service.yaml")},
	} {
		var monitor struct {
			Metadata struct{ Namespace string }
			Spec     struct {
				JobLabel string
				Selector struct{ MatchLabels map[string]string }
			}
		}
		var service struct {
			Metadata struct {
				Name, Namespace string
				Labels          map[string]string
			}
		}
		read(t, &monitor, files[0]...)
		read(t, &service, files[1]...)
		for name, value := range monitor.Spec.Selector.MatchLabels {
			if service.Metadata.Labels[name] != value {
				t.Errorf("%s does not select Service %s", files[0], service.Metadata.Name)
			}
		}
		if service.Metadata.Namespace != namespace || monitor.Metadata.Namespace != namespace {
			t.Errorf("%s: namespaces %q, %q", kind, monitor.Metadata.Namespace, service.Metadata.Namespace)
		}
		job := service.Metadata.Labels[monitor.Spec.JobLabel]
		if job == "" {
			job = service.Metadata.Name
		}
		out[job] = true
	}
	return out
}

// documented are the labels of the metrics that the page about them has, by name.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "pkg", "status", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{"up": nil}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, label := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[2], -1) {
			out[row[1]] = append(out[row[1]], label[1])
		}
		if _, known := out[row[1]]; !known {
			out[row[1]] = nil
		}
	}
	if len(out) < 12 {
		t.Fatalf("found only %v", out)
	}
	return out
}

// TestExpressions: each asks only for what this driver's pods serve, by labels that there are.
func TestExpressions(t *testing.T) {
	metrics := documented(t)
	for _, kind := range kinds {
		jobs := scraped(t, kind)
		for _, r := range rules(t, kind) {
			expectServed(t, r.Alert, r.Expr, metrics, jobs)
		}
	}
}

// expectServed wants an expression to ask for something, and only for metrics that are documented, by
// their labels, of the jobs.
func expectServed(t *testing.T, what, text string, metrics map[string][]string, jobs map[string]bool) {
	t.Helper()
	expr, err := promQL.ParseExpr(text)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	selectors := 0
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		selectors++
		own, known := metrics[partOfHistogram.ReplaceAllString(selector.Name, "")]
		if !known {
			t.Errorf("%s asks for %s, which pkg/status/README.md does not have", what, selector.Name)
		}
		equal := map[string]string{}
		for _, m := range selector.LabelMatchers {
			if m.Type == labels.MatchEqual {
				equal[m.Name] = m.Value
			}
			if !slices.Contains(append([]string{"__name__", "namespace", "job"}, own...), m.Name) {
				t.Errorf("%s: %s has no label %s", what, selector.Name, m.Name)
			}
		}
		if equal["namespace"] != namespace || !jobs[equal["job"]] {
			t.Errorf("%s: %s is not only of this driver's pods: %v", what, selector.Name, equal)
		}
		return nil
	})
	if selectors == 0 {
		t.Errorf("%s asks for nothing", what)
	}
}

var partOfHistogram = regexp.MustCompile(`_(bucket|count|sum)$`)
