package sample

import (
	"slices"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	tests := map[string]struct {
		reason     string
		soak, seed string
		all        []int
		want       int
		asSeed7    bool
	}{
		"Sample":      {reason: "`make test` has no time for all", seed: "7", all: all, want: 5, asSeed7: true},
		"AnotherSeed": {reason: "another day tries others", seed: "8", all: all, want: 5},
		"Few":         {reason: "there are not that many", seed: "7", all: all[:3], want: 3},
		"None":        {reason: "a change may have nothing to try", seed: "7", want: 0},
		"Soak":        {reason: "`make soak` tries all", seed: "7", soak: "all", all: all, want: 100},
	}
	t.Setenv("SEED", "7")
	seed7 := Of(all, 5, Random(1))
	if slices.Equal(seed7, Of(all, 5, Random(2))) {
		t.Errorf("two streams of a seed give the same sample: %v", seed7)
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SEED", tc.seed)
			t.Setenv("SOAK", tc.soak)
			got := Of(tc.all, 5, Random(1))
			if len(got) != tc.want || slices.Equal(got, seed7) != tc.asSeed7 {
				t.Errorf("%s: got %v, of seed 7 %v", tc.reason, got, seed7)
			}
			slices.Sort(got)
			if len(slices.Compact(got)) != tc.want {
				t.Errorf("some are tried twice: %v", got)
			}
		})
	}
	if !slices.IsSorted(all) {
		t.Error("what is sampled is shuffled for who samples next")
	}
}

func TestSeed(t *testing.T) {
	t.Setenv("SEED", "")
	if year, month, day := time.Now().Date(); Seed() != uint64(year*10000+int(month)*100+day) {
		t.Errorf("today's seed is %d", Seed())
	}
	t.Setenv("SEED", "20261123")
	if got := Seed(); got != 20261123 {
		t.Errorf("a report's seed is not taken, but %d", got)
	}
	t.Setenv("SEED", "yesterday")
	defer func() {
		if recover() == nil {
			t.Error("a seed that is none tries another sample than was asked for")
		}
	}()
	Seed()
}

func TestStride(t *testing.T) {
	t.Setenv("SOAK", "")
	if got := Stride(8); got != 8 {
		t.Errorf("a sample takes steps of %d", got)
	}
	t.Setenv("SOAK", "all")
	if got := Stride(8); got != 1 {
		t.Errorf("a soak leaves steps out: %d", got)
	}
}
