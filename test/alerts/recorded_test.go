package alerts

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunks"
)

// phase is how many minutes each scrape of a recording stands for: longer than any alert waits.
const phase = 120

// recorded are the alerts for which suites break something: a mon, a pool, what a kubelet knows.
// A node pod is broken where there are real nodes.
var recorded = []string{"rbd-CephCSIClusterUnreachable", "rbd-CephCSIPoolMissing", "rbd-CephCSINodesNotServed"}

// TestRecorded: on what operators have served in the end-to-end suites, an alert is silent while all is
// well, fires once something is broken, and stops when it is mended.
func TestRecorded(t *testing.T) {
	recordings, err := filepath.Glob(filepath.Join(root, "bin", "scrapes", "*-*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(recordings) == 0 {
		t.Skip("make test-e2e leaves recordings in bin/scrapes")
	}
	for _, name := range recorded {
		if !slices.Contains(recordings, filepath.Join(root, "bin", "scrapes", name)) {
			t.Errorf("no suite has recorded %s", name)
		}
	}
	for _, dir := range recordings {
		kind, alert, _ := strings.Cut(filepath.Base(dir), "-")
		t.Run(kind+"/"+alert, func(t *testing.T) {
			series := replay(t, dir, "ceph-"+kind+"-csi-driver-operator")
			found := false
			for _, r := range rules(t, kind) {
				if r.Alert != alert {
					continue
				}
				found = true
				fired := watch(t, r, series, 3*phase)
				if len(fired) != 1 {
					t.Errorf("%d alerts, want one: %v", len(fired), fired)
				}
				for labels, f := range fired {
					if f.from < phase || f.from >= 2*phase || f.to != 2*phase {
						t.Errorf("%s fires in the minutes %s; broken from %d to %d", labels, f, phase, 2*phase)
					}
				}
			}
			if !found {
				t.Errorf("%s has no such alert", kind)
			}
		})
	}
}

// replay has each scrape of a recording stand for a phase, as Prometheus would have scraped the operator.
func replay(t *testing.T, dir, operator string) memory {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%s has %v, want what was served while all was well, broken and mended", dir, files)
	}
	target := map[string]string{"namespace": namespace, "job": operator + "-metrics", "pod": operator + "-1"}
	names, samples := map[string]labels.Labels{}, map[string][]chunks.Sample{}
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content) + "up 1\n") {
			metric, text, _ := strings.Cut(strings.TrimSpace(line), "} ")
			if text == "" {
				metric, text, _ = strings.Cut(metric, " ")
			} else {
				metric += "}"
			}
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
			name, err := promQL.ParseMetric(metric)
			if err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
			builder := labels.NewBuilder(name)
			for label, value := range target {
				builder.Set(label, value)
			}
			names[metric] = builder.Labels()
			for minute := range phase {
				samples[metric] = append(samples[metric], sample{at(i*phase + minute).UnixMilli(), value})
			}
		}
	}
	var out memory
	for metric, name := range names {
		out = append(out, storage.NewListSeries(name, samples[metric]))
	}
	return out
}
