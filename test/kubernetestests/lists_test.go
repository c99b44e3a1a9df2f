package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestParseObstacles(t *testing.T) {
	const text = `
# The kernel has
# no such thing.
[Feature: A]
[Feature: B] # with a hash

# Another.
c

nameless
`
	want := []obstacle{
		{"[Feature: A]", "The kernel has no such thing."}, {"[Feature: B] # with a hash", "The kernel has no such thing."},
		{"c", "Another."}, {"nameless", ""},
	}
	if diff := cmp.Diff(want, parseObstacles(text), cmp.AllowUnexported(obstacle{})); diff != "" {
		t.Error(diff)
	}
}

func TestChoose(t *testing.T) {
	found := []string{"a", "b", "c [Slow]", "d e"}
	impossible := []obstacle{{"[Slow]", "takes long"}, {"[Driver: x] d", "x cannot"}, {"[Driver: y] a", "y cannot"}}
	tests := map[string]struct {
		reason  string
		passing []string
		all     bool
		want    []string
		fails   string
	}{
		"Known":   {reason: "others are not run", passing: []string{"b"}, want: []string{"b"}},
		"All":     {reason: "but the impossible ones", passing: []string{"b"}, all: true, want: []string{"a", "b"}},
		"Gone":    {reason: "a test that nobody runs must not look like one that passes", passing: []string{"b", "f"}, fails: `no test is called "f"`},
		"GoneAll": {reason: "the list is about to be written anew", passing: []string{"f"}, all: true, want: []string{"a", "b"}},
		"Nothing": {reason: "no test is no success", fails: "no test is known to pass"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := lists{prefix: "[Driver: x] ", passing: tc.passing, impossible: impossible}.choose(found, tc.all)
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%s: %v", tc.reason, err)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", tc.reason, err, diff)
			}
		})
	}
}

func TestStale(t *testing.T) {
	tests := map[string]struct {
		obstacle obstacle
		fails    string
	}{
		"Met":      {obstacle{"b", "c"}, ""},
		"Gone":     {obstacle{"c", "c"}, `no test has "c"`},
		"NoReason": {obstacle{"b", ""}, "no reason"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := stale([]obstacle{tc.obstacle}, []string{"a b"})
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Error(err)
			}
		})
	}
}

// TestLists: what is said to pass is not said to be impossible.
func TestLists(t *testing.T) {
	for _, d := range driver.All {
		l, err := readLists(d)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.passing) < 20 || len(l.impossible) == 0 {
			t.Errorf("%s: %d tests pass, %d obstacles", d.Kind, len(l.passing), len(l.impossible))
		}
		for _, name := range l.passing {
			if reason := l.why(name); reason != "" {
				t.Errorf("%s: %s passes, and is impossible: %s", d.Kind, name, reason)
			}
		}
	}
}
