package proof

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const apart = 10 * time.Minute

func minute(n int) time.Time { return time.Unix(0, 0).Add(time.Duration(n) * time.Minute) }

// seen is a look after some minutes at a cluster that uses one pool.
func seen(at, volumes int, pool string) Look {
	return Look{At: minute(at), Volumes: volumes, Usage: []usage.Usage{{Places: []usage.Place{{Placement: ceph.Placement{Pool: pool}}}}}}
}

func TestProof(t *testing.T) {
	tests := map[string]struct {
		reason string
		looks  []Look
		since  int
		now    int
		want   []string
	}{
		"None":   {"nobody looked", nil, 0, 10, nil},
		"One":    {"once is not twice", []Look{seen(0, 1, "a")}, 0, 10, nil},
		"Soon":   {"twice, but nine minutes apart", []Look{seen(0, 1, "a"), seen(9, 1, "b")}, 0, 9, nil},
		"Twice":  {"ten minutes apart", []Look{seen(0, 1, "a"), seen(10, 1, "b")}, 0, 10, []string{"a", "b"}},
		"Stale":  {"the last look is older than what the caches may lack", []Look{seen(0, 1, "a"), seen(10, 1, "b")}, 0, 12, nil},
		"Late":   {"it was in use after the first look", []Look{seen(0, 1, "a"), seen(10, 1, "b")}, 1, 10, nil},
		"Third":  {"the third look proves what was in use after the first", []Look{seen(0, 1, "a"), seen(10, 1, "b"), seen(20, 1, "c")}, 1, 20, []string{"b", "c"}},
		"Within": {"what was seen in between counts", []Look{seen(0, 1, "a"), seen(5, 1, "b"), seen(10, 1, "c")}, 0, 10, []string{"a", "b", "c"}},
		"Nothing": {"all volumes went at once: they may be unread", []Look{seen(0, 3, "a"), seen(10, 0, "b")}, 0, 10,
			nil},
		"StillNothing": {"and still are gone ten minutes later", []Look{seen(0, 3, "a"), seen(10, 0, "b"), seen(20, 0, "c")}, 0, 20,
			[]string{"b", "c"}},
		"Never": {"there never were any", []Look{seen(0, 0, "a"), seen(10, 0, "b")}, 0, 10, []string{"a", "b"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c chain
			for _, look := range tc.looks {
				c = c.with(look, apart)
			}
			used, proven := c.prove(minute(tc.since), minute(tc.now), apart)
			var got []string
			for _, u := range used {
				got = append(got, u.Places[0].Pool)
			}
			if proven != (tc.want != nil) || !slices.Equal(got, tc.want) {
				t.Errorf("%s: proven %t, in use %q, want %q", tc.reason, proven, got, tc.want)
			}
		})
	}
}

func TestChainKeepsNoMoreThanItNeeds(t *testing.T) {
	var c chain
	for n := range 100 {
		c = c.with(seen(n, 1, "a"), apart)
	}
	if len(c) != 11 {
		t.Errorf("%d looks are kept, one each minute, for ten minutes", len(c))
	}
}

func TestVersions(t *testing.T) {
	tests := map[string]struct {
		reason string
		seen   []map[string]uint64
		back   bool
	}{
		"First":   {"nothing was seen before", []map[string]uint64{{"a": 5}}, false},
		"Same":    {"nothing has happened", []map[string]uint64{{"a": 5}, {"a": 5}}, false},
		"Later":   {"", []map[string]uint64{{"a": 5}, {"a": 6}}, false},
		"Back":    {"a restore", []map[string]uint64{{"a": 5}, {"a": 4}}, true},
		"Another": {"another list says nothing of this one", []map[string]uint64{{"a": 5}, {"b": 4}}, false},
		"BackOnce": {"the highest counts", []map[string]uint64{{"a": 5}, {"a": 6, "b": 1}, {"a": 5, "b": 2}},
			true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, back := marks{}, false
			for _, versions := range tc.seen {
				back = errors.Is(m.raise(versions), ErrBack) || back
			}
			if back != tc.back {
				t.Errorf("%s: back %t, want %t", tc.reason, back, tc.back)
			}
		})
	}
}

// TestBackIsStable: what is said until the caches have caught up is written once, and not after each look.
func TestBackIsStable(t *testing.T) {
	m := marks{}
	if err := m.raise(map[string]uint64{"Pods": 9, "PersistentVolumes": 9}); err != nil {
		t.Fatal(err)
	}
	first := m.raise(map[string]uint64{"Pods": 3, "PersistentVolumes": 4})
	second := m.raise(map[string]uint64{"Pods": 5, "PersistentVolumes": 8})
	if first == nil || second == nil || first.Error() != second.Error() {
		t.Errorf("%v, and then %v", first, second)
	}
}
