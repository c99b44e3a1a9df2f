package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// soak is as an undisturbed one, whatever the suite was asked for.
func soak(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{"SOAK": "all", "SOAK_TIME": "1h", "ONLY": ""} {
		t.Setenv(name, value)
	}
}

// TestTurns has a soak meet each fault at some write, and kill the program at each, each eighth in one attempt, before it
// meets any other at two, whatever the seed.
func TestTurns(t *testing.T) {
	all := learned{there: passage{writes: 4, calls: 3}, back: passage{writes: 2}}.cases()
	for seed := range uint64(3) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		tried := map[attempt]bool{}
		isTried := func(a attempt) bool { return tried[a] }
		first := inTurns(all, isTried)
		met, kills := map[string]bool{}, 0
		for i, a := range first {
			tried[a], met[a.fault.Name] = true, true
			if i == len(faults.All)-1 && len(met) != len(faults.All) {
				t.Errorf("seed %d: %d faults among the first %d attempts", seed, len(met), i+1)
			}
			if a.fault.Each > 0 {
				kills++
			}
		}
		if want := 2 * (4 + 2 + 3); kills != want || len(first) != len(faults.All)+want-4 {
			t.Errorf("seed %d: %d kills of %d attempts, want %d", seed, kills, len(first), want)
		}
		if others := inTurns(all, isTried); len(first)+len(others) != len(all) || slices.ContainsFunc(others, isTried) {
			t.Errorf("seed %d: %d, then %d of %d attempts", seed, len(first), len(others), len(all))
		}
	}
}

// TestRounds has each attempt once, in their order, on its way.
func TestRounds(t *testing.T) {
	there, back := func(at int) attempt { return attempt{faults.All[0], at, false} }, func(at int) attempt { return attempt{faults.All[0], at, true} }
	none := attempt{}
	nothing := attempt{back: true}
	for name, tc := range map[string]struct {
		all  []attempt
		want []round
	}{
		"None":     {},
		"There":    {[]attempt{there(1), there(2)}, []round{{there(1), nothing}, {there(2), nothing}}},
		"Back":     {[]attempt{back(1)}, []round{{none, back(1)}}},
		"Both":     {[]attempt{back(2), there(1)}, []round{{there(1), back(2)}}},
		"MoreBack": {[]attempt{there(1), back(2), back(1)}, []round{{there(1), back(2)}, {none, back(1)}}},
	} {
		if got := rounds(tc.all); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

// TestGoingOn has a soak leave out what an earlier one has tried.
func TestGoingOn(t *testing.T) {
	gomega.RegisterTestingT(t)
	soak(t)
	before := results
	t.Cleanup(func() { results = before })
	results = journal{Cases: map[string]int{}, Tried: map[string]outcome{}}
	all := learned{there: passage{writes: 1}}.cases()
	results.begin("a change", len(all))
	for i, a := range all[1:] {
		results.Tried[key("a change", a)] = outcome{Change: "a change", Fault: a.fault.Name, Hit: "a write", Failed: i == 0}
	}
	got := chosen("a change", append([]attempt(nil), all...), rand.New(rand.NewPCG(1, 0)))
	if len(got) != 1 || got[0] != all[0] || results.done("a change") {
		t.Errorf("left are %v", got)
	}
	table := results.String()
	if !strings.Contains(strings.Join(strings.Fields(table), " "), "a change 0, 0 1, 1 1, 0") {
		t.Errorf("nobody can see what failed:\n%s", table)
	}
	results.Tried[key("a change", all[0])] = outcome{Change: "a change", Fault: all[0].fault.Name}
	if !results.done("a change") || results.String() != table {
		t.Errorf("a fault that found no write is to be tried again, or counts:\n%s", &results)
	}
	t.Setenv("ONLY", fmt.Sprintf("^a change: %s$", all[1]))
	if got := chosen("a change", append([]attempt(nil), all...), nil); len(got) != 1 || got[0] != all[1] {
		t.Errorf("ONLY leaves %v", got)
	}
}

// TestShares gives what a change has left over to those that follow.
func TestShares(t *testing.T) {
	gomega.RegisterTestingT(t)
	soak(t)
	s := startShares(4)
	for _, want := range []time.Duration{15 * time.Minute, 20 * time.Minute, 30 * time.Minute, time.Hour} {
		if got := time.Until(s.next()); got > want || got < want-time.Minute {
			t.Errorf("%s for one, want %s", got, want)
		}
	}
	t.Setenv("ONLY", "x")
	if s := startShares(4); !s.next().IsZero() {
		t.Error("what is asked for is cut short")
	}
}

// TestParts has each spec tried by one of a soak's processes.
func TestParts(t *testing.T) {
	for parts := 1; parts <= 5; parts++ {
		met := map[int]int{}
		for which := 1; which <= parts; which++ {
			t.Setenv("SOAK_PART", fmt.Sprintf("%d/%d", which, parts))
			for spec, p := 0, (&part{}); spec < 7; spec++ {
				if p.next() {
					met[spec]++
				}
			}
		}
		for spec := range 7 {
			if met[spec] != 1 {
				t.Errorf("of %d parts %d try spec %d", parts, met[spec], spec)
			}
		}
	}
	t.Setenv("SOAK_PART", "")
	p := part{}
	for range 2 {
		if !p.next() {
			t.Error("without parts, something is left out")
		}
	}
}

// TestTogether has the parts of a soak keep one journal, and an operator one of its own.
func TestTogether(t *testing.T) {
	gomega.RegisterTestingT(t)
	file := filepath.Join(t.TempDir(), "faults.json")
	of := func(operator string) *journal {
		return &journal{Operator: operator, Cases: map[string]int{}, Tried: map[string]outcome{}, file: file}
	}
	stale, first, second := of("former"), of("present"), of("present")
	stale.begin("a change", 1)
	for i, part := range []*journal{first, second, first} {
		name := fmt.Sprintf("change %d", i)
		part.begin(name, 1)
		part.note(name, outcome{Change: name, Hit: "a write"})
	}
	want := []string{"change 0", "change 1", "change 2"}
	for _, part := range []*journal{first, second} {
		part.update(func() {})
		if got := slices.Sorted(maps.Keys(part.Tried)); !slices.Equal(got, want) || len(part.Cases) != len(want) {
			t.Errorf("got %v of %v", got, part.Cases)
		}
	}
}
