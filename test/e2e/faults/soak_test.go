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

// soak is as an undisturbed one that has tried nothing yet, whatever the suite was asked for.
func soak(t *testing.T) {
	t.Helper()
	before := results
	t.Cleanup(func() { results = before })
	results = newJournal()
	for name, value := range map[string]string{"SOAK": "all", "SOAK_TIME": "1h", "ONLY": ""} {
		t.Setenv(name, value)
	}
}

// TestTurns has a soak meet each fault at some write, and kill the program at each, each eighth in one attempt, before it
// meets any other at two, whatever the seed, also where one with another seed has begun.
func TestTurns(t *testing.T) {
	all := learned{there: passage{writes: 4, calls: 3}, back: passage{writes: 2}}.cases()
	shuffle := func(seed uint64) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	for seed := range uint64(3) {
		shuffle(seed)
		tried := map[attempt]outcome{}
		of := func(a attempt) (outcome, bool) { o, is := tried[a]; return o, is }
		begun, _ := inTurns(all, of)
		for _, a := range begun[:len(faults.All)/2] {
			tried[a] = outcome{Hit: "a write"}
		}
		shuffle(seed + 100)
		first, _ := inTurns(all, of)
		met, kills := map[string]bool{}, 0
		for a := range tried {
			met[a.fault.Name] = true
		}
		for i, a := range first {
			tried[a], met[a.fault.Name] = outcome{Hit: "a write"}, true
			if i == len(faults.All)-len(faults.All)/2-1 && len(met) != len(faults.All) {
				t.Errorf("seed %d: %d faults among the first %d attempts", seed, len(met), i+1)
			}
		}
		for a := range tried {
			if a.fault.Each > 0 {
				kills++
			}
		}
		if want := 2 * (4 + 2 + 3); kills != want || len(tried) != len(faults.All)+want-4 {
			t.Errorf("seed %d: %d kills of %d attempts, want %d", seed, kills, len(tried), want)
		}
		again, others := inTurns(all, of)
		if len(again) > 0 || len(tried)+len(others) != len(all) || slices.ContainsFunc(others, func(a attempt) bool { _, is := of(a); return is }) {
			t.Errorf("seed %d: %d, then %d and %d of %d attempts", seed, len(tried), len(again), len(others), len(all))
		}
	}
}

// TestNoWrite has a fault that found no write met at another one.
func TestNoWrite(t *testing.T) {
	all := []attempt{{fault: faults.All[0], at: 1}, {fault: faults.All[0], at: 2}}
	first, _ := inTurns(all, func(a attempt) (outcome, bool) { return outcome{}, a.at == 1 })
	if !slices.Equal(first, all[1:]) {
		t.Errorf("got %v", first)
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
	all := learned{there: passage{writes: 1}}.cases()
	results.begin("a change", len(all), 0)
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

// TestFirstTurn leaves a soak's time to changes that have something left of the first turn.
func TestFirstTurn(t *testing.T) {
	gomega.RegisterTestingT(t)
	soak(t)
	all := learned{there: passage{writes: 2}}.cases()
	for _, a := range all {
		if a.at == 1 || a.fault.Each > 0 {
			results.Tried[key("a change", a)] = outcome{Hit: "a write"}
		}
	}
	for left, want := range map[int]bool{1: false, 0: true} {
		results.begin("another change", len(all), left)
		if got := chosen("a change", slices.Clone(all), rand.New(rand.NewPCG(1, 0))); len(got) > 0 != want {
			t.Errorf("another change has %d left of the first turn, this one tries %d attempts", left, len(got))
		}
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
		j := newJournal()
		j.Operator, j.file = operator, file
		return &j
	}
	stale, first, second := of("former"), of("present"), of("present")
	stale.begin("a change", 1, 1)
	for i, part := range []*journal{first, second, first} {
		name := fmt.Sprintf("change %d", i)
		part.begin(name, 1, i)
		part.note(name, outcome{Change: name, Hit: "a write"})
	}
	want := []string{"change 0", "change 1", "change 2"}
	for _, part := range []*journal{first, second} {
		part.update(func() {})
		if got := slices.Sorted(maps.Keys(part.Tried)); !slices.Equal(got, want) || len(part.Cases) != len(want) || !part.inFirstTurn() {
			t.Errorf("got %v of %v, %v left", got, part.Cases, part.Left)
		}
	}
}
