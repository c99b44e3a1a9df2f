package connection

import (
	"bytes"
	"maps"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// facts is what a link decides its steps on.
type facts struct {
	// exists: there is a declaration. fresh: it is not what the live session was made from.
	exists, fresh bool
	// live: there is a session. due: its last poll is long enough ago. deaf: so are its last answer, and
	// the last try to have another session in its place.
	live, due, deaf bool
	// rest: this declaration has just failed.
	rest bool
}

// steps are what a link does of what costs Ceph something.
type steps struct{ poll, dial, again bool }

// decide keeps a session alive whatever happens to its source, and tries what is new.
//
//	exists fresh live due deaf rest | poll dial again
//	any    any   yes  yes any  any  | yes  …    …
//	yes    yes   any  any any  no   | …    yes  no
//	(else)       yes  any yes  any  | …    no   yes
func decide(f facts) steps {
	s := steps{
		poll: f.live && f.due,
		dial: f.exists && f.fresh && !f.rest,
	}
	s.again = f.live && f.deaf && !s.dial
	return s
}

func (l *link[S]) decide(id identity) steps {
	l.mu.Lock()
	defer l.mu.Unlock()
	data := id.source.data
	f := facts{exists: data != nil, fresh: data != nil}
	now := l.config.Clock.Now()
	if l.live != nil {
		f.live, f.due = true, now.Sub(l.live.polled) >= pollGap
		f.deaf = l.live.silent.bad() && now.Sub(l.live.answered) >= deaf && now.Sub(l.live.tried) >= deaf
		f.fresh = f.exists && !sameData(data, l.live.data)
	}
	if l.failed != nil && !sameData(data, l.failed.data) {
		l.failed = nil
	}
	f.rest = l.failed != nil && l.failed.meant == id.meant && now.Sub(l.failed.at) < redialInterval
	return decide(f)
}

// view is a source, and what its link found there.
type view struct {
	source
	// live: there is a session, to cluster.
	live    bool
	cluster ceph.Cluster
	// unsaved: the state has yet to learn cluster.
	unsaved bool
	// answered is when the session gave its last answer; reachable is false after an outage.
	answered  time.Time
	reachable bool
	versions  ceph.Versions
	// verdict is what is wrong; known is false while that cannot be said.
	verdict verdict
	known   bool
}

// view judges the newest state of the source.
func (l *link[S]) view(s source) view {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := view{source: s}
	if l.live != nil {
		v.live, v.cluster, v.unsaved = true, l.live.cluster, l.live.unsaved
		v.answered, v.versions = l.live.answered, l.live.versions
		v.reachable = !l.live.silent.bad() || l.config.Clock.Since(l.live.answered) < outage
	}
	switch {
	case !s.exists():
		v.known = true
	case s.problem.bad():
		v.verdict, v.known = s.problem, true
	case s.unread:
	case l.failed != nil && sameData(s.data, l.failed.data):
		v.verdict, v.known = l.failed.verdict, true
	case l.live == nil || !sameData(s.data, l.live.data):
	case !l.live.silent.bad():
		v.verdict, v.known = l.live.complain, true
	case l.live.denied.bad():
		v.verdict, v.known = l.live.denied, true
	default:
		v.verdict, v.known = l.live.silent, l.config.Clock.Since(l.live.answered) >= outage
	}
	return v
}

func sameData(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }
