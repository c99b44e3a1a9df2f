package nodes

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// TestRemembered: what the controller remembers of nodes makes nobody responsible for what is no more, or has just begun.
func TestRemembered(t *testing.T) {
	crashes := func(node string) Unserved { return Unserved{Node: node, Why: "CrashLoopBackOff"} }
	both := []Unserved{crashes("a"), crashes("b")}
	away, starting := []Unserved{{Node: "a", Why: "off", Away: true}}, []Unserved{{Node: "a", Why: "not ready"}}
	type step struct {
		reason             string
		after              time.Duration
		uid                types.UID
		desired, available int32
		unserved           []Unserved
		degraded           bool
		want               string
	}
	for name, tc := range map[string]struct {
		restarts bool
		steps    []step
	}{
		"Excluded": {steps: []step{
			{"two crash", 0, "x", 4, 2, both, false, ""},
			{"for a minute", patience, "x", 4, 2, both, false, condition.NodesNotServed},
			{"settings leave them out, or they are deleted", time.Second, "x", 2, 2, nil, false, ""},
		}},
		"OneExcluded": {steps: []step{
			{"two crash", 0, "x", 2, 0, both, false, ""},
			{"for a minute", patience, "x", 2, 0, both, true, condition.NodesNotServed},
			{"the other one is deleted", time.Second, "x", 1, 0, both[:1], true, condition.NodesNotServed},
		}},
		"MadeAnew": {steps: []step{
			{"pods start", 0, "x", 2, 0, both, false, ""},
			{"those of the next DaemonSet start", time.Hour, "y", 2, 0, both, false, ""},
			{"and do not come up", patience, "y", 2, 0, both, true, condition.NodesNotServed},
		}},
		"Another": {steps: []step{
			{"one crashes", 0, "x", 2, 1, both[:1], false, ""},
			{"for a minute", patience, "x", 2, 1, both[:1], false, condition.NodesNotServed},
			{"it is mended, and the other one begins", time.Second, "x", 2, 1, both[1:], false, condition.NodesNotServed},
			{"the first one stays served", calm, "x", 2, 1, both[1:], false, ""},
		}},
		"BackFromAway": {steps: []step{
			{"the only node is away", 0, "x", 1, 0, away, false, ""},
			{"for minutes", 5 * time.Minute, "x", 1, 0, away, false, condition.NodesNotReady},
			{"its pod starts", time.Second, "x", 1, 0, starting, false, condition.NodesNotReady},
			{"and is ready", 5 * time.Second, "x", 1, 1, nil, false, condition.NodesNotReady},
			{"and stays", calm, "x", 1, 1, nil, false, ""},
		}},
		"BackBroken": {steps: []step{
			{"the only node is away", 0, "x", 1, 0, away, false, ""},
			{"for minutes", 5 * time.Minute, "x", 1, 0, away, false, condition.NodesNotReady},
			{"its pod starts", time.Second, "x", 1, 0, starting, false, condition.NodesNotReady},
			{"and does not come up", patience, "x", 1, 0, starting, true, condition.NodesNotServed},
		}},
		"Restarts": {restarts: true, steps: []step{
			{"the first process sees a crash", 0, "x", 1, 0, both[:1], false, ""},
			{"the next one, too: nothing was told", patience, "x", 1, 0, both[:1], false, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, s := range tc.steps {
				if tc.restarts {
					r.start()
				}
				r.set(s.uid, s.desired, s.available, s.unserved)
				r.look(t, s.after)
				if degraded, reason := r.degraded(), r.served().Reason; degraded != s.degraded || reason != s.want {
					t.Errorf("%s: got Degraded %v, NodesServed %q, want %v, %q", s.reason, degraded, reason, s.degraded, s.want)
				}
			}
		})
	}
}

// TestTellsOnAfterRestart: a condition of the process before is taken back by one that has looked for long enough.
func TestTellsOnAfterRestart(t *testing.T) {
	r := newRig(t)
	r.set("x", 1, 0, []Unserved{{Node: "a", Why: "CrashLoopBackOff"}})
	r.look(t, 0)
	r.look(t, patience)
	for _, after := range []time.Duration{0, patience - time.Second, time.Second} {
		if after == 0 {
			r.start()
		}
		r.look(t, after)
		if degraded, reason := r.degraded(), r.served().Reason; !degraded || reason != condition.NodesNotServed {
			t.Errorf("%s later nothing but the process has changed, and Degraded is %v, NodesServed %q", after, degraded, reason)
		}
	}
	r.start()
	r.set("x", 1, 1, nil)
	r.look(t, 0)
	if degraded, reason := r.degraded(), r.served().Reason; degraded || reason != "" {
		t.Errorf("all are served: Degraded is %v, NodesServed %q", degraded, reason)
	}
}

// TestRest: what is over is not told for longer because somebody looked in between.
func TestRest(t *testing.T) {
	began, s := time.Unix(1000, 0), spells{}
	s.see(began, []Unserved{{Node: "a"}, {Node: "b"}})
	if rest, needed := s.rest(began); needed {
		t.Errorf("nothing is over, and a look is needed in %s", rest)
	}
	s.see(began.Add(time.Second), []Unserved{{Node: "b"}})
	s.see(began.Add(11*time.Second), nil)
	if rest, needed := s.rest(began.Add(11 * time.Second)); !needed || rest != calm-10*time.Second {
		t.Errorf("got %s, %v, want %s", rest, needed, calm-10*time.Second)
	}
}
