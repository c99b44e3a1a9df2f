package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestParseMemory(t *testing.T) {
	m, err := parseMemory("Name:\tceph-csi kB\nVmHWM:\t    2000 kB\nRssAnon:\t    1000 kB\nRssFile:\t       0 kB\nThreads:\t9\n")
	if err != nil {
		t.Fatal(err)
	}
	if m.private() != 1.024 || m.file() != 0 || m.peak() != 2.048 {
		t.Errorf("%v, want 1000, 0 and 2000 KiB in MB", m)
	}
	// A process that has ended has no memory.
	if _, err := parseMemory("Name:\tceph-csi\nState:\tZ (zombie)\n"); err == nil {
		t.Error("no error where nothing is told")
	}
}

func TestParseCPUTime(t *testing.T) {
	tests := map[string]struct {
		stat string
		want time.Duration
		bad  bool
	}{
		"UserAndSystem": {stat: "12 (operator) S 1 12 12 0 -1 4194560 900 0 0 0 150 25 0 0 20 0 14 0 8", want: 1750 * time.Millisecond},
		"OddName":       {stat: "12 (a) S (9 9) S 1 12 12 0 -1 4194560 900 0 0 0 1 2 0 0 20 0 14 0 8", want: 30 * time.Millisecond},
		"Short":         {stat: "12 (operator) S 1", bad: true},
		"NotANumber":    {stat: "12 (operator) S 1 12 12 0 -1 4194560 900 0 0 0 x 25 0", bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseCPUTime(tc.stat)
			if got != tc.want && !tc.bad || (err != nil) != tc.bad {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestGauge(t *testing.T) {
	metrics := "# TYPE go_goroutines gauge\ngo_goroutines_total 7\ngo_goroutines 123\ngo_threads{kind=\"os\"} 9\n"
	if got, err := gauge(metrics, "go_goroutines"); got != 123 || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	// What is not told is not zero, which would be no more than before.
	for _, name := range []string{"go_threads", "go_gorout"} {
		if got, err := gauge(metrics, name); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestQuorumWith(t *testing.T) {
	log := []byte(`[
		{"stamp":"2026-01-02T12:00:01.500000+0100","message":"mon.a is new leader, mons a,b,c,d in quorum (ranks 0,1,2,3)"},
		{"stamp":"2026-01-02T12:00:02.000000+0100","message":"mon.a calling monitor election"},
		{"stamp":"2026-01-02T12:00:03.250000+0100","message":"mon.a is new leader, mons a,b,c,d in quorum (ranks 0,1,2,3)"},
		{"stamp":"2026-01-02T12:00:09.000000+0100","message":"mon.a is new leader, mons a,b,c in quorum (ranks 0,1,2)"}]`)
	at, err := quorumWith(log, "d")
	if want := time.Date(2026, 1, 2, 11, 0, 3, 250e6, time.UTC); err != nil || !at.Equal(want) {
		t.Errorf("%s, %v, want %s", at, err, want)
	}
	if at, err := quorumWith(log, "e"); err == nil {
		t.Errorf("mon e was never there: %s", at)
	}
}

func TestPlainAddress(t *testing.T) {
	for monHost, want := range map[string]string{
		"[v2:127.0.0.1:3300,v1:127.0.0.1:6789]":     "127.0.0.1:6789",
		"[v2:127.0.0.1:3300/0,v1:127.0.0.1:6789/0]": "127.0.0.1:6789",
		"[v2:127.0.0.1:3300]":                       "",
	} {
		if got, err := plainAddress(monHost); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", monHost, got, err)
		}
	}
}

// withConditions is a ClusterCSIDriver with conditions, written "Type=Status".
func withConditions(t *testing.T, written ...string) conditions {
	t.Helper()
	var list []any
	for _, c := range written {
		kind, status, _ := strings.Cut(c, "=")
		list = append(list, map[string]any{"type": kind, "status": status})
	}
	out, err := conditionsOf(&unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": list}}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAvailable(t *testing.T) {
	const controller, node = "CephRBDDriverControllerServiceControllerAvailable", "CephRBDDriverNodeServiceControllerAvailable"
	for name, tc := range map[string]struct {
		conditions []string
		want       bool
	}{
		"Both":        {[]string{controller + "=True", node + "=True"}, true},
		"OneOnly":     {[]string{controller + "=True"}, false},
		"OneFalse":    {[]string{controller + "=True", node + "=False"}, false},
		"OtherDriver": {[]string{strings.Replace(controller, "RBD", "FS", 1) + "=True", node + "=True"}, false},
		"None":        {nil, false},
	} {
		if got := withConditions(t, tc.conditions...).available(driver.RBD); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTurnedDegraded(t *testing.T) {
	history := []conditions{
		withConditions(t, "ADegraded=False"),
		withConditions(t, "ADegraded=True"),
		withConditions(t, "ADegraded=True", "BAvailable=True", "CDegraded=Unknown"),
		withConditions(t, "ADegraded=False"),
		withConditions(t, "ADegraded=True"),
	}
	got := turnedDegraded(history)
	if len(got) != 2 || got[0].Type != "ADegraded" || got[1].Type != "ADegraded" {
		t.Errorf("%v, want ADegraded twice", got)
	}
}

func TestDifferences(t *testing.T) {
	before := map[string]string{"a-same": "1", "a-changed": "1", "a-gone": "1", "b-changed": "1"}
	after := map[string]string{"a-same": "1", "a-changed": "2", "a-new": "1", "b-changed": "2"}
	if got := differences(before, after, "a-"); !slices.Equal(got, []string{"a-changed", "a-gone", "a-new"}) {
		t.Errorf("%q", got)
	}
}
