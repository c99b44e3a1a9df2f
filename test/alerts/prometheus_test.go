package alerts

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/template"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// step is between two samples, and between two looks at the rules.
const step = time.Minute

var promQL = parser.NewParser(parser.Options{})

// sample is of a series of numbers.
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                                      { return s.at }
func (s sample) ST() int64                                     { return 0 }
func (s sample) F() float64                                    { return s.value }
func (s sample) H() *histogram.Histogram                       { return nil }
func (s sample) FH() *histogram.FloatHistogram                 { return nil }
func (s sample) Type() chunkenc.ValueType                      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample                           { return s }
func at(minute int) time.Time                                  { return time.Unix(0, 0).Add(time.Duration(minute) * step) }
func minutes(d time.Duration) int                              { return int(d / step) }
func (m memory) Close() error                                  { return nil }
func (m memory) Querier(int64, int64) (storage.Querier, error) { return m, nil }

// memory are the series of a Prometheus.
type memory []*storage.SeriesEntry

// remember reads series in promtool's notation, one a line.
func remember(t *testing.T, text string) memory {
	t.Helper()
	var out memory
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, values, err := promQL.ParseSeriesDesc(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{at(i).UnixMilli(), v.Value})
			}
		}
		out = append(out, storage.NewListSeries(name, samples))
	}
	return out
}

// Select implements storage.Querier.
func (m memory) Select(_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	out := &found{next: -1}
	for _, series := range m {
		if !slices.ContainsFunc(matchers, func(l *labels.Matcher) bool { return !l.Matches(series.Lset.Get(l.Name)) }) {
			out.series = append(out.series, series)
		}
	}
	slices.SortFunc(out.series, func(a, b *storage.SeriesEntry) int { return labels.Compare(a.Lset, b.Lset) })
	return out
}

// LabelValues implements storage.Querier; no expression asks for them.
func (m memory) LabelValues(context.Context, string, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

// LabelNames implements storage.Querier; no expression asks for them.
func (m memory) LabelNames(context.Context, *storage.LabelHints, ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

type found struct {
	series []*storage.SeriesEntry
	next   int
}

func (f *found) Next() bool                        { f.next++; return f.next < len(f.series) }
func (f *found) At() storage.Series                { return f.series[f.next] }
func (f *found) Err() error                        { return nil }
func (f *found) Warnings() annotations.Annotations { return nil }

// firing is one alert, with the minutes in which it began to fire and no longer did; -1: it still does.
type firing struct {
	from, to int
	// text are its annotations, as a person reads them.
	text string
}

func (f firing) String() string {
	if f.to < 0 {
		return fmt.Sprintf("%d-", f.from)
	}
	return fmt.Sprintf("%d-%d", f.from, f.to)
}

// watch looks at a rule each minute, as Prometheus does, and tells what fired, by its labels.
func watch(t *testing.T, r rule, series memory, last int) map[string]firing {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: promQL})
	hold, err := model.ParseDuration(r.For)
	if err != nil {
		t.Fatal(err)
	}
	since, out := map[string]int{}, map[string]firing{}
	for minute := range last {
		query, err := engine.NewInstantQuery(t.Context(), series, nil, r.Expr, at(minute))
		if err != nil {
			t.Fatal(err)
		}
		vector, err := query.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		active := map[string]int{}
		for _, s := range vector {
			key := s.Metric.String()
			if _, twice := active[key]; twice {
				t.Fatalf("%s fires twice with %s", r.Alert, key)
			}
			begin, was := since[key]
			if !was {
				begin = minute
			}
			active[key] = begin
			if _, fires := out[key]; !fires && minute-begin >= minutes(time.Duration(hold)) {
				out[key] = firing{from: minute, to: -1, text: r.read(t, s, at(minute))}
			}
		}
		for _, key := range slices.Collect(maps.Keys(out)) {
			f := out[key]
			if _, still := active[key]; !still && f.to < 0 {
				f.to = minute
				out[key] = f
			}
		}
		since = active
	}
	return out
}

// read fills the annotations in.
func (r rule) read(t *testing.T, s promql.Sample, now time.Time) string {
	t.Helper()
	const names = "{{$labels := .Labels}}{{$value := .Value}}"
	var out []string
	for _, name := range slices.Sorted(maps.Keys(r.Annotations)) {
		data := template.AlertTemplateData(s.Metric.Map(), nil, "", s)
		text, err := template.NewTemplateExpander(t.Context(), names+r.Annotations[name], r.Alert, data, model.TimeFromUnixNano(now.UnixNano()), nil, &url.URL{}, nil).Expand()
		if err != nil {
			t.Errorf("%s: %s: %v", r.Alert, name, err)
		}
		if strings.Contains(text, "<no value>") || strings.Contains(text, "{{") {
			t.Errorf("%s: %s names what there is not: %s", r.Alert, name, text)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}
