package alerts

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql"
)

type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct{ List []struct{ Type string } }
	Panels        []panel
}

type panel struct {
	ID                                   int
	Type, Title, Description, Datasource string
	Span                                 int
	ShowTitle                            bool
	GridPos                              struct{ X, Y, W, H int }
	Format                               string
	Styles                               []struct{ Pattern, Alias, Type, Unit string }
	YAxes                                []struct{ Format string }
	Targets                              []target
	Panels                               []panel
}

type target struct{ RefID, Expr, LegendFormat, Format string }

// board is a driver's, as it is applied.
func board(t *testing.T, kind string) dashboard {
	t.Helper()
	var object struct {
		Metadata struct {
			Name, Namespace string
			Labels          map[string]string
		}
		Data map[string]string
	}
	read(t, &object, "assets", "testdata", "golden", kind, "dashboard.yaml")
	if object.Metadata.Namespace != "openshift-config-managed" || object.Metadata.Labels["console.openshift.io/dashboard"] != "true" || len(object.Data) != 1 {
		t.Fatalf("the console would not find it: %+v", object.Metadata)
	}
	var out dashboard
	for name, text := range object.Data {
		if !strings.HasSuffix(name, ".json") {
			t.Errorf("key %s", name)
		}
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return out
}

// drawn are the panels that show something.
func (d dashboard) drawn() []panel {
	return slices.DeleteFunc(slices.Clone(d.Panels), func(p panel) bool { return p.Type == "row" })
}

// TestDashboard: OpenShift's console leaves out panels of other types, and formats numbers of other units
// as they are. Grafana takes panels from a list since schema version 16, and brings those of version 24 and
// before up to date.
func TestDashboard(t *testing.T) {
	titles := map[string]bool{}
	for _, kind := range kinds {
		d := board(t, kind)
		if d.SchemaVersion < 16 || d.SchemaVersion > 23 || titles[d.Title] || titles[d.UID] || !strings.Contains(d.Title, kind+".csi.ceph.com") {
			t.Errorf("%s: %q, %q, version %d", kind, d.Title, d.UID, d.SchemaVersion)
		}
		titles[d.Title], titles[d.UID] = true, true
		for _, v := range d.Templating.List {
			if v.Type != "datasource" {
				t.Errorf("%s: a variable of type %s: nothing is to be chosen but the Prometheus", kind, v.Type)
			}
		}
		seen := map[string]bool{}
		for _, p := range d.Panels {
			if seen[p.Title] || seen[fmt.Sprint(p.ID)] || p.Title == "" {
				t.Errorf("%s: %d %q: twice, or nameless", kind, p.ID, p.Title)
			}
			seen[p.Title], seen[fmt.Sprint(p.ID)] = true, true
		}
		for _, p := range d.drawn() {
			p.expectShown(t)
		}
		expectTiled(t, d.Panels)
	}
}

func (p panel) expectShown(t *testing.T) {
	t.Helper()
	units := []string{"short", "bytes", "percentunit"}
	used := []string{}
	switch p.Type {
	case "singlestat":
		used = []string{p.Format}
		if len(p.Targets) != 1 {
			t.Errorf("%s: the console shows the first expression alone", p.Title)
		}
	case "table":
		for _, s := range p.Styles {
			if s.Type == "number" {
				used = append(used, s.Unit)
			}
		}
	case "graph":
		for _, axis := range p.YAxes {
			used = append(used, axis.Format)
		}
	default:
		t.Errorf("%s: type %s", p.Title, p.Type)
	}
	if len(used) == 0 || slices.ContainsFunc(used, func(unit string) bool { return !slices.Contains(units, unit) }) {
		t.Errorf("%s: units %v", p.Title, used)
	}
	if p.Description == "" || p.Datasource != "$datasource" || p.GridPos.W != 2*p.Span {
		t.Errorf("%s: %+v", p.Title, p)
	}
	for i, target := range p.Targets {
		if target.RefID != string(rune('A'+i)) || strings.Contains(target.Expr, "$") {
			t.Errorf("%s: %+v", p.Title, target)
		}
	}
}

// expectTiled wants panels to fill the width, none over another.
func expectTiled(t *testing.T, panels []panel) {
	t.Helper()
	taken := map[[2]int]string{}
	widths := map[int]int{}
	for _, p := range panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, found := taken[[2]int{x, y}]; found {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
				widths[y]++
			}
		}
	}
	for y, width := range widths {
		if width != 24 {
			t.Errorf("line %d is %d wide", y, width)
		}
	}
}

// TestDashboardAsksForWhatIsServed: what nobody serves would be an empty panel for ever.
func TestDashboardAsksForWhatIsServed(t *testing.T) {
	metrics := documented(t)
	for _, kind := range kinds {
		jobs := scraped(t, kind)
		for _, p := range board(t, kind).drawn() {
			for _, target := range p.Targets {
				expectServed(t, p.Title, target.Expr, metrics, jobs)
			}
		}
	}
}

// asked is what an expression gives at a time; there is one series for each set of labels.
func asked(t *testing.T, expr string, series memory, minute int) promql.Vector {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: promQL})
	query, err := engine.NewInstantQuery(t.Context(), series, nil, expr, at(minute))
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	vector, err := query.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return vector
}

var inBraces = regexp.MustCompile(`{{\s*([a-z_]+)\s*}}`)

// TestDashboardShows: each expression gives numbers for a driver that works, as many as its panel can
// show, with the labels that the panel names; and none for the other driver, or for series of those names
// from elsewhere.
func TestDashboardShows(t *testing.T) {
	for _, kind := range kinds {
		own := remember(t, written(kind, healthy))
		other := written(kinds[1-slices.Index(kinds, kind)], healthy)
		foreign := remember(t, other+strings.ReplaceAll(written(kind, healthy), namespace, "mine"))
		for _, p := range board(t, kind).drawn() {
			rows := map[string]bool{}
			for _, target := range p.Targets {
				got := asked(t, target.Expr, own, 60)
				if len(got) == 0 {
					t.Errorf("%s: %s gives nothing", p.Title, target.Expr)
				}
				if p.Type == "singlestat" && len(got) != 1 {
					t.Errorf("%s: %d numbers", p.Title, len(got))
				}
				named := inBraces.FindAllStringSubmatch(target.LegendFormat, -1)
				for _, s := range got {
					if math.IsNaN(s.F) || math.IsInf(s.F, 0) {
						t.Errorf("%s: %s is %v", p.Title, s.Metric, s.F)
					}
					for _, label := range named {
						if s.Metric.Get(label[1]) == "" {
							t.Errorf("%s: the legend names %s, which %s lacks", p.Title, label[1], s.Metric)
						}
					}
					if p.Type == "graph" && s.Metric.Len() > len(named) {
						t.Errorf("%s: lines that the legend %q does not tell apart: %s", p.Title, target.LegendFormat, s.Metric)
					}
					rows[s.Metric.String()] = true
				}
				if got := asked(t, target.Expr, foreign, 60); len(got) > 0 {
					t.Errorf("%s: shows what is not the driver's: %v", p.Title, got)
				}
			}
			if p.Type == "table" {
				p.expectColumns(t, asked(t, p.Targets[0].Expr, own, 60)[0].Metric.Map())
				if len(rows) != 1 {
					t.Errorf("%s: its expressions give different labels, so that no row is whole: %v", p.Title, slices.Sorted(maps.Keys(rows)))
				}
			}
		}
	}
}

// expectColumns wants a column for each label and each expression.
func (p panel) expectColumns(t *testing.T, labels map[string]string) {
	t.Helper()
	want := slices.Collect(maps.Keys(labels))
	for _, target := range p.Targets {
		want = append(want, "Value #"+target.RefID)
	}
	var have []string
	for _, s := range p.Styles {
		if s.Type != "hidden" && s.Alias != "" {
			have = append(have, s.Pattern)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		t.Errorf("%s: columns %q, want %q", p.Title, have, want)
	}
}
