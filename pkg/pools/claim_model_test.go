package pools

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// world is a pool and the operators of two OpenShift clusters that use it, each of which may
// have decided on a write that is not done yet.
type world struct {
	key, flag bool
	users     [2]string
	announced [2]bool
	pending   [2]action
	wanted    [2]wishes
	// pendingWanted is what was wanted when the write was decided on.
	pendingWanted [2]wishes
	// denied may not change the flag.
	denied [2]bool
}

var operators = [2]user{{"a", "rbd"}, {"b", "rbd"}}

func (w world) pool() ceph.Pool {
	keys := map[string]string{}
	if w.key {
		keys[driver.ProtectionKey] = "x"
	}
	for i, operator := range operators {
		if w.users[i] != "" {
			keys[operator.key()] = w.users[i]
		}
		if w.announced[i] {
			keys[operator.change()] = "x"
		}
	}
	return ceph.Pool{Applications: []string{"rbd"}, NoDelete: w.flag, Metadata: map[string]map[string]string{"rbd": keys}}
}

// denying answers as Ceph does to an operator that may not change the flag.
type denying struct{ Marker }

func (denying) Try(_ context.Context, trial ceph.Trial) error {
	return &ceph.CommandError{Command: trial.Prefix, Errno: -int(syscall.EACCES)}
}

// decide lets an operator look at the pool.
func (w world) decide(i int) world {
	p, u := w.pool(), operators[i]
	todo := next(p, u, w.wanted[i])
	if w.denied[i] && try(context.Background(), denying{}, p, u, w.wanted[i], todo) != nil {
		todo = without(p, u, w.wanted[i], todo)
	}
	w.pending[i], w.pendingWanted[i] = todo, w.wanted[i]
	return w
}

// write does what an operator decided on, maybe long ago, or only the first or the second part of it.
func (w world) write(i int, parts ...bool) world {
	first, second := true, true
	if len(parts) > 0 {
		first, second = parts[0], parts[1]
	}
	wanted, before := w.pendingWanted[i], w
	switch w.pending[i] {
	case claim:
		w.users[i] = wanted.value()
	case announce:
		w.announced[i] = true
	case enter:
		w.users[i], w.announced[i] = wanted.value(), true
	case setFlag:
		w.flag = true
	case setKey:
		w.key = true
	case clearKey:
		w.key = false
	case clearFlag:
		w.flag = false
	case finish:
		w.announced[i] = false
	case unclaim:
		w.users[i], w.announced[i] = "", false
	}
	if !first {
		w.flag, w.users = before.flag, before.users
	}
	if !second {
		w.key, w.announced = before.key, before.announced
	}
	w.pending[i], w.pendingWanted[i] = nothing, gone
	return w
}

// reachable are all worlds that two operators can get into from others, with any order of looks,
// writes, crashes and changes of mind.
func reachable(from ...world) []world {
	seen := map[world]bool{}
	for _, w := range from {
		seen[w] = true
	}
	queue := slices.Clone(from)
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		var following []world
		for i := range operators {
			crashed := w
			crashed.pending[i], crashed.pendingWanted[i] = nothing, gone
			following = append(following, w.decide(i), w.write(i), w.write(i, true, false), w.write(i, false, true), crashed)
			for _, other := range []wishes{gone, used, kept} {
				changed := w
				changed.wanted[i] = other
				following = append(following, changed)
			}
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

// eachRest judges how each world ends, until one is wrong; all have to come to rest.
func eachRest(t *testing.T, worlds []world, judge func(w, end world)) {
	t.Helper()
	for _, w := range worlds {
		if t.Failed() {
			return
		}
		for _, inStep := range []bool{false, true} {
			end, ended := rest(w, inStep)
			if !ended {
				t.Fatalf("from %+v the operators never come to rest (in step: %t): %+v", w, inStep, end)
			}
			judge(w, end)
		}
	}
}

func TestClaimsConverge(t *testing.T) {
	worlds := reachable(world{})
	if len(worlds) < 100 {
		t.Fatalf("only %d worlds: the test tries too little", len(worlds))
	}
	eachRest(t, worlds, func(w, end world) {
		wanted := w.wanted[0] == kept || w.wanted[1] == kept
		if wanted && !end.flag {
			t.Errorf("from %+v: a pool that somebody keeps is not protected: %+v", w, end)
		}
		if end.users != users(w.wanted) {
			t.Errorf("from %+v: wrong claims: %+v", w, end)
		}
		if end.key != wanted || end.flag != wanted {
			t.Errorf("from %+v: flag or key is left: %+v", w, end)
		}
	})
}

func users(wanted [2]wishes) (out [2]string) {
	for i := range wanted {
		if wanted[i] != gone {
			out[i] = wanted[i].value()
		}
	}
	return out
}

// refused are all worlds in which some operators may not change the flag, or no longer: one that lost the right between
// two writes has a new connection, over which nothing is on its way.
var refused = sync.OnceValue(func() []world {
	var from []world
	for _, w := range reachable(world{}) {
		for _, w.denied = range [][2]bool{{true, false}, {false, true}, {true, true}} {
			if (w.pending[0] == nothing || !w.denied[0]) && (w.pending[1] == nothing || !w.denied[1]) {
				from = append(from, w)
			}
		}
	}
	return reachable(from...)
})

// TestRefusalsConverge: with and without the right, operators come to rest, and leave both flag and key or neither. Only
// half of a release waits for the right.
func TestRefusalsConverge(t *testing.T) {
	eachRest(t, refused(), func(w, end world) {
		stuck := end.flag && !end.key && (end.announced[0] && end.denied[0] || end.announced[1] && end.denied[1])
		if !stuck && (end.flag != end.key || end.announced != [2]bool{}) {
			t.Errorf("from %+v: a change is left half done: %+v", w, end)
		}
		for i := range w.wanted {
			if w.wanted[i] != gone && end.users[i] != w.wanted[i].value() {
				t.Errorf("from %+v: a claim is wrong: %+v", w, end)
			}
		}
		for i := range w.wanted {
			if w.wanted[i] == kept && !w.denied[i] && !end.flag {
				t.Errorf("from %+v: a pool is not protected by who may do it: %+v", w, end)
			}
		}
		claimed := slices.ContainsFunc(end.users[:], func(claim string) bool { return claim != "" && claim != leaving })
		if !claimed && end.key && w.denied != [2]bool{true, true} {
			t.Errorf("from %+v: a flag that nobody claims is not cleared by who may do it: %+v", w, end)
		}
	})
}

// TestAdministratorsFlagBesideARefusal: nobody takes the flag for an operator's, also not with the right to change it.
func TestAdministratorsFlagBesideARefusal(t *testing.T) {
	var flagged []world
	seen := map[world]bool{}
	for _, w := range refused() {
		end, _ := rest(w, true)
		if end.flag {
			continue
		}
		if end.denied, end.flag = [2]bool{}, true; !seen[end] {
			seen[end] = true
			flagged = append(flagged, end)
		}
	}
	if len(flagged) < 9 {
		t.Errorf("only %d worlds: the test does not try all wishes", len(flagged))
	}
	for _, after := range reachable(flagged...) {
		if !after.flag || after.key {
			t.Fatalf("an administrator's flag was taken for an operator's: %+v", after)
		}
	}
}

func TestAdministratorsFlagStays(t *testing.T) {
	for _, w := range reachable(world{flag: true}) {
		if !w.flag || w.key {
			t.Fatalf("the administrator's flag was touched: %+v", w)
		}
	}
}

// TestAdministratorsFlagDuringAClaim: an operator that is between its writes, or crashed there, takes
// nobody's flag for its own. Only a change that is announced already, or on its way, cannot be told from it.
func TestAdministratorsFlagDuringAClaim(t *testing.T) {
	var flagged []world
	for _, w := range reachable(world{}) {
		onItsWay := slices.ContainsFunc(w.pending[:], func(a action) bool { return a != nothing && a != finish && a != unclaim })
		if w.flag || onItsWay || w.announced != [2]bool{} || t.Failed() {
			continue
		}
		w.flag = true
		flagged = append(flagged, w)
		if end, ended := rest(w, true); !ended || end.users != users(w.wanted) {
			t.Errorf("from %+v: the rights do not follow the use beside an administrator's flag: %+v", w, end)
		}
	}
	if len(flagged) < 10 {
		t.Errorf("only %d worlds: the test tries too little", len(flagged))
	}
	for _, after := range reachable(flagged...) {
		if !after.flag || after.key {
			t.Fatalf("after an administrator set the flag, it was taken for an operator's: %+v", after)
		}
	}
}
