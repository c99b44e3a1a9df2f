package main

import (
	"context"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestMedian(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   float64
	}{
		"One":  {[]float64{3}, 3},
		"Odd":  {[]float64{9, 1, 5}, 5},
		"Even": {[]float64{4, 1, 2, 9}, 3},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.values)
			if got := median(tc.values); got != tc.want {
				t.Errorf("median of %v is %v, want %v", before, got, tc.want)
			}
			if !slices.Equal(tc.values, before) {
				t.Error("the caller's values were sorted")
			}
		})
	}
}

func TestReport(t *testing.T) {
	tests := map[string]struct {
		unit       unit
		target     target
		values     []float64
		want       string
		missed     bool
		impossible string
	}{
		"OneDriverOver": {seconds, atMost(1), []float64{0.9, 1.01}, "x 0.90 s 1.01 s ≤ 1.00 s MISS", true, ""},
		"AtTheLimit":    {perSecond, atMost(0.05), []float64{0.05, 0}, "x 0.050/s 0.000/s ≤ 0.050/s ok", false, ""},
		"NoneAllowed":   {count, atMost(0), []float64{0, 1}, "x 0 1 ≤ 0 MISS", true, ""},
		"FastEnough":    {times, atLeast(12), []float64{12.04, math.NaN()}, "x 12.0 × - ≥ 12.0 × ok", false, ""},
		"TooSlow":       {times, atLeast(12), []float64{math.NaN(), 11.9}, "x - 11.9 × ≥ 12.0 × MISS", true, ""},
		"Information":   {megabytes, nil, []float64{1e6, 2}, "x 1000000.0 MB 2.0 MB", false, ""},
		"NotHere":       {seconds, atMost(1), []float64{math.NaN(), math.NaN()}, "x - - not measured: needs root", false, "needs root"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := report{
				lines: []line{{row{what: "x", unit: tc.unit, target: tc.target}, tc.values, tc.impossible}},
				loads: []float64{2, 0.5, 1},
			}
			lines := strings.Split(r.String(), "\n")
			if got := strings.Join(strings.Fields(lines[0]), " "); got != "what rbd cephfs target" {
				t.Errorf("header: %q", got)
			}
			if got := strings.Join(strings.Fields(lines[1]), " "); got != tc.want {
				t.Errorf("line: %q, want %q", got, tc.want)
			}
			if !strings.HasSuffix(lines[2], "under a load average of 0.5 to 2.0.") {
				t.Errorf("load: %q", lines[2])
			}
			if r.missed() != tc.missed {
				t.Errorf("missed is %t", r.missed())
			}
		})
	}
}

// TestMeasureWhatCannotBe: the other rows are measured.
func TestMeasureWhatCannotBe(t *testing.T) {
	rows := []row{
		{what: "nodes", unit: seconds, target: atMost(1), take: func(context.Context, driver.Driver) (float64, error) {
			return 0, impossibleError{errors.New("needs\nroot")}
		}},
		{what: "others", unit: count, take: func(context.Context, driver.Driver) (float64, error) { return 1, nil }},
	}
	got, err := measure(t.Context(), rows, options{only: regexp.MustCompile("")}, io.Discard)
	if err != nil || len(got.lines) != 2 || got.lines[0].impossible != "needs root" || got.missed() {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestReportOfNothing(t *testing.T) {
	if got := (&report{loads: []float64{1}}).String(); got != "" {
		t.Errorf("a table without rows: %q", got)
	}
}
