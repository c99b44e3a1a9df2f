package presence

import "time"

// rollout is how long two operators of one cluster may be seen side by side. One that was killed is
// counted for 30 seconds, one that is replaced has 30 more to end, and on a node that is lost another
// one waits for the lease.
const rollout = 2 * time.Minute

// sighting is what looks for other operators have found so far.
type sighting struct {
	// first and last are when others were seen, missing since when they are not, and looked the last look.
	first, last, missing, looked time.Time
	who                          []string
}

// look adds one.
func (s sighting) look(now time.Time, who []string) sighting {
	if len(who) == 0 {
		if s.missing.IsZero() {
			s.missing = now
		}
		s.looked = now
		return s
	}
	gone := !s.missing.IsZero() && now.Sub(s.missing) >= rollout
	blind := !s.lasting() && now.Sub(s.looked) >= rollout
	if s.first.IsZero() || gone || blind {
		s.first = now
	}
	s.last, s.missing, s.looked, s.who = now, time.Time{}, now, who
	return s
}

// lasting says that others are there, and not on their way out. It changes at most once in the time of
// a rollout, so that an operator which is restarted over and over is told of once; nor does it change
// while nobody can be asked.
//
//	seen for   missing for   lasting
//	never      –             no
//	< rollout  any           no
//	≥ rollout  < rollout     yes
//	≥ rollout  ≥ rollout     no
func (s sighting) lasting() bool {
	seen := !s.last.IsZero() && s.last.Sub(s.first) >= rollout
	return seen && (s.missing.IsZero() || s.looked.Sub(s.missing) < rollout)
}
