package nodes

import (
	"maps"
	"slices"
	"time"
)

const (
	// patience is how long a node may be unserved before it is told: pods start, and are replaced.
	patience = time.Minute
	// calm is how long it must be served again before it is told no more: a pod that crashes is ready for
	// a moment each time.
	calm = 30 * time.Second
)

// spells are times in which a node is not served, or only for a moment, by the nodes' names.
type spells map[string]spell

type spell struct {
	// seen is how the node was seen last.
	seen Unserved
	// since is when it was seen first, or first after it had been out itself.
	since time.Time
	// served is since when it is served again; zero while it is not.
	served time.Time
	// told is what the condition says of it; nil before it has lasted.
	told *Unserved
}

// see takes what was found now. The pod of a node that comes back has as much time as any other.
func (s spells) see(now time.Time, unserved []Unserved) {
	for node, held := range s {
		switch {
		case among(unserved, node):
		case held.served.IsZero():
			held.served = now
			s[node] = held
		case now.Sub(held.served) >= calm:
			delete(s, node)
		}
	}
	for _, u := range unserved {
		held, known := s[u.Node]
		if !known || isOut(held.seen) && !isOut(u) {
			held.since = now
		}
		held.seen, held.served = u, time.Time{}
		if now.Sub(held.since) >= patience || held.told != nil && isOut(*held.told) == isOut(u) {
			held.told = &u
		}
		s[u.Node] = held
	}
}

// forgetServed forgets nodes that are served again.
func (s spells) forgetServed() {
	maps.DeleteFunc(s, func(_ string, held spell) bool { return !held.served.IsZero() })
}

// counted are those that are not served, and those that are told still.
func (s spells) counted() []Unserved {
	var out []Unserved
	for _, held := range s {
		switch {
		case held.served.IsZero():
			out = append(out, held.seen)
		case held.told != nil:
			out = append(out, *held.told)
		}
	}
	return out
}

// told are those that have lasted, sorted.
func (s spells) told() []Unserved {
	var out []Unserved
	for _, held := range s {
		if held.told != nil {
			out = append(out, *held.told)
		}
	}
	slices.SortFunc(out, byNode)
	return out
}

// pending says that some have not lasted yet.
func (s spells) pending() bool {
	for _, held := range s {
		if held.told == nil && held.served.IsZero() {
			return true
		}
	}
	return false
}

// rest is how long it takes until the next of them may be over; false when none is served again.
func (s spells) rest(now time.Time) (time.Duration, bool) {
	out, found := calm, false
	for _, held := range s {
		if !held.served.IsZero() {
			out, found = min(out, calm-now.Sub(held.served)), true
		}
	}
	return out, found
}

func among(unserved []Unserved, node string) bool {
	return slices.ContainsFunc(unserved, func(u Unserved) bool { return u.Node == node })
}
