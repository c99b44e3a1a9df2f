package pools

import (
	"slices"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// world is a pool and the operators of two OpenShift clusters that use it, each of which may
// have decided on a write that is not done yet.
type world struct {
	claim, flag bool
	users       [2]string
	pending     [2]action
	wanted      [2]bool
	// pendingWanted is what was wanted when the write was decided on.
	pendingWanted [2]bool
}

var operators = [2]string{userKey("a", "rbd"), userKey("b", "rbd")}

func (w world) pool() ceph.Pool {
	keys := map[string]string{}
	if w.claim {
		keys[claimKey] = "x"
	}
	for i, key := range operators {
		if w.users[i] != "" {
			keys[key] = w.users[i]
		}
	}
	return ceph.Pool{Applications: []string{"rbd"}, NoDelete: w.flag, Metadata: map[string]map[string]string{"rbd": keys}}
}

// decide lets an operator look at the pool.
func (w world) decide(i int) world {
	w.pending[i], w.pendingWanted[i] = next(w.pool(), operators[i], w.wanted[i]), w.wanted[i]
	return w
}

// write does what an operator decided on, maybe long ago.
func (w world) write(i int) world {
	switch w.pending[i] {
	case addUser:
		w.users[i] = leaving
		if w.pendingWanted[i] {
			w.users[i] = inUse
		}
	case protect:
		w.flag, w.claim = true, true
	case removeUser:
		w.users[i] = ""
	case release:
		w.flag, w.claim = false, false
	}
	w.pending[i], w.pendingWanted[i] = nothing, false
	return w
}

// reachable are all worlds that two operators can get into from a pool without marks, with any
// order of looks, writes, crashes and changes of mind.
func reachable(from world) []world {
	seen := map[world]bool{from: true}
	queue := []world{from}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		var following []world
		for i := range operators {
			crashed, other := w, w
			crashed.pending[i], crashed.pendingWanted[i] = nothing, false
			other.wanted[i] = !other.wanted[i]
			following = append(following, w.decide(i), w.write(i), crashed, other)
		}
		for _, f := range following {
			if !seen[f] {
				seen[f] = true
				queue = append(queue, f)
			}
		}
	}
	var out []world
	for w := range seen {
		out = append(out, w)
	}
	return out
}

// rest lets both operators work until neither has anything to do: one after the other, or in step, as
// those do whose writes a mon puts into the same epoch.
func rest(w world, inStep bool) (world, bool) {
	w = w.write(0).write(1)
	for range 20 {
		before := w
		if inStep {
			w = w.decide(0).decide(1).write(0).write(1)
		} else {
			w = w.decide(0).write(0).decide(1).write(1)
		}
		if w == before {
			return w, true
		}
	}
	return w, false
}

func TestClaimsConverge(t *testing.T) {
	worlds := reachable(world{})
	if len(worlds) < 100 {
		t.Fatalf("only %d worlds: the test tries too little", len(worlds))
	}
	for _, w := range worlds {
		if t.Failed() {
			return
		}
		for _, inStep := range []bool{false, true} {
			end, ended := rest(w, inStep)
			if !ended {
				t.Fatalf("from %+v the operators never come to rest (in step: %t): %+v", w, inStep, end)
			}
			used := w.wanted[0] || w.wanted[1]
			if used && !end.flag {
				t.Errorf("from %+v: a pool in use is not protected: %+v", w, end)
			}
			if end.users != users(w.wanted) {
				t.Errorf("from %+v: wrong users: %+v", w, end)
			}
			if end.claim != used || end.flag != used {
				t.Errorf("from %+v: flag or claim is left: %+v", w, end)
			}
		}
	}
}

func users(wanted [2]bool) (out [2]string) {
	for i := range wanted {
		if wanted[i] {
			out[i] = inUse
		}
	}
	return out
}

func TestAdministratorsFlagStays(t *testing.T) {
	for _, w := range reachable(world{flag: true}) {
		if !w.flag || w.claim || w.users != [2]string{} {
			t.Fatalf("the administrator's flag was touched: %+v", w)
		}
	}
}

// TestAdministratorsFlagDuringAClaim: an operator that is between its writes, or crashed there, takes
// nobody's flag for its own. Only a write that is on its way already cannot be stopped.
func TestAdministratorsFlagDuringAClaim(t *testing.T) {
	tried := 0
	for _, w := range reachable(world{}) {
		onItsWay := slices.ContainsFunc(w.pending[:], func(a action) bool { return a == protect || a == release })
		if w.flag || onItsWay || t.Failed() {
			continue
		}
		tried++
		w.flag = true
		for _, after := range reachable(w) {
			if !after.flag || after.claim {
				t.Fatalf("after an administrator set the flag in %+v, it was taken for an operator's: %+v", w, after)
			}
		}
		if end, ended := rest(w, true); !ended || end.users != [2]string{} {
			t.Errorf("from %+v: keys are left beside an administrator's flag: %+v", w, end)
		}
	}
	if tried < 10 {
		t.Errorf("only %d worlds: the test tries too little", tried)
	}
}
