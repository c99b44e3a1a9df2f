package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// unit is how a figure is printed.
type unit string

const (
	seconds   unit = "%.2f s"
	megabytes unit = "%.1f MB" // of 1,000,000 bytes
	perSecond unit = "%.3f/s"
	count     unit = "%.0f"
	ratio     unit = "%.2f"
	times     unit = "%.1f ×" // as fast as something else
)

func (u unit) format(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return fmt.Sprintf(string(u), value)
}

// target is what a figure must not exceed, or must reach; nil is for information.
type target *bound

type bound struct {
	limit float64
	least bool
}

func atMost(limit float64) target  { return &bound{limit: limit} }
func atLeast(limit float64) target { return &bound{limit: limit, least: true} }

// line is a row with a figure for each of driver.All, NaN where it is not taken.
type line struct {
	row
	values []float64
	// impossible says why it cannot be taken on this machine.
	impossible string
}

func (l line) missed() bool {
	return l.target != nil && slices.ContainsFunc(l.values, func(value float64) bool {
		if l.target.least {
			return value < l.target.limit
		}
		return value > l.target.limit
	})
}

func (l line) cells() []string {
	out := []string{l.what}
	for _, v := range l.values {
		out = append(out, l.unit.format(v))
	}
	if l.impossible != "" {
		return append(out, "", "not measured: "+l.impossible)
	}
	if l.target == nil {
		return append(out, "", "")
	}
	sign, verdict := "≤ ", "ok"
	if l.target.least {
		sign = "≥ "
	}
	if l.missed() {
		verdict = "MISS"
	}
	return append(out, sign+l.unit.format(l.target.limit), verdict)
}

// report is the table and under which load of the machine it was made.
type report struct {
	lines []line
	loads []float64
}

func (r *report) missed() bool { return slices.ContainsFunc(r.lines, line.missed) }

// noteLoad remembers the number of processes that wanted a CPU in the last minute.
func (r *report) noteLoad() {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return
	}
	if load, err := strconv.ParseFloat(strings.Fields(string(content))[0], 64); err == nil {
		r.loads = append(r.loads, load)
	}
}

func (r *report) String() string {
	if len(r.lines) == 0 {
		return ""
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	header := []string{"what"}
	for _, d := range driver.All {
		header = append(header, d.Kind)
	}
	fmt.Fprintln(table, strings.Join(append(header, "target", ""), "\t"))
	for _, l := range r.lines {
		fmt.Fprintln(table, strings.Join(l.cells(), "\t"))
	}
	table.Flush()
	if len(r.loads) > 0 {
		fmt.Fprintf(&out, "Taken on %d CPUs under a load average of %.1f to %.1f.\n", runtime.NumCPU(), slices.Min(r.loads), slices.Max(r.loads))
	}
	return out.String()
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
