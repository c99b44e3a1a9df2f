package presence

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

func TestWatchesFollowPoolsInUse(t *testing.T) {
	r := newRig(t, newCeph(), newClock(), "pod-1")
	r.sync()
	r.expectWatched("nothing is known to be in use")
	r.use("a", "b")
	r.expectWatched("both", "a", "b")
	r.sync()
	r.expectWatched("once", "a", "b")
	r.use("b", "gone")
	r.expectWatched("one was released, one does not exist", "b")
	if got := r.ceph.Watched(); !slices.Equal(got, []string{"b/" + object}) {
		t.Errorf("objects that are left: %q", got)
	}
	r.config.Used.Set(nil)
	r.sync()
	r.expectWatched("what is in use is not known any more", "b")
	if types := r.operator.Types(); len(types) > 0 || r.operator.Writes() > 0 {
		t.Errorf("conditions %q", types)
	}
}

// TestLostWatches: whatever ends a watch, it is taken again.
func TestLostWatches(t *testing.T) {
	r := newRig(t, newCeph(), newClock(), "pod-1")
	r.use("a")
	r.ceph.LoseWatches()
	r.expectWatched("after an outage of the OSDs")
	r.sync()
	r.expectWatched("after an outage of the OSDs", "a")
	r.connect("admin")
	r.expectWatched("the connection was replaced")
	r.sync()
	r.expectWatched("the connection was replaced", "a")
	if err := r.client.RemoveWatched(t.Context(), "a", object); err != nil {
		t.Fatal(err)
	}
	r.sync()
	r.expectWatched("somebody has removed the object", "a")
	r.ceph.LoseWatches()
	r.ceph.Stop()
	r.sync()
	r.ceph.Start()
	r.sync()
	r.expectWatched("Ceph was silent", "a")
}

// TestLastSeen: an object tells when its operator last ran, without many writes.
func TestLastSeen(t *testing.T) {
	c, clock := newCeph(), newClock()
	c.SetClock(clock.Now)
	r := newRig(t, c, clock, "pod-1")
	begin := clock.Now()
	seen := func(reason string, want time.Time) {
		t.Helper()
		r.sync()
		r.expectWatched(reason, "a")
		if at, err := r.client.LastWatched(t.Context(), "a", object); err != nil || !at.Equal(want) {
			t.Errorf("%s: last seen at %s, not %s (%v)", reason, at, want, err)
		}
	}
	r.use("a")
	seen("it has just begun", begin)
	clock.SetTime(begin.Add(23 * time.Hour))
	seen("a write a day is enough", begin)
	clock.SetTime(begin.Add(25 * time.Hour))
	seen("a day later", clock.Now())
	last := clock.Now()
	clock.SetTime(begin.Add(100 * time.Hour))
	r.operator.SetState(operatorv1.Unmanaged)
	seen("who manages nothing writes nothing", last)
}

func TestUnmanaged(t *testing.T) {
	c, clock := newCeph(), newClock()
	before := newRig(t, c, clock, "pod-1")
	before.use("a")
	before.client.Close()
	r := newRig(t, c, clock, "pod-2")
	r.operator.SetState(operatorv1.Unmanaged)
	r.use("a", "b")
	r.expectWatched("an object is made by who may write only", "a")
	if got := c.Watched(); !slices.Equal(got, []string{"a/" + object}) {
		t.Errorf("objects: %q", got)
	}
}

// TestDenied: who is not shown says so.
func TestDenied(t *testing.T) {
	c, clock := newCeph(), newClock()
	c.AddUser("u")
	c.SetCaps("u", ceph.Caps{Mon: "allow r", OSD: "profile rbd pool=a"})
	r := newRig(t, c, clock, "pod-1")
	r.connect("u")
	r.use("a", "b", "c")
	r.expectWatched("where it may", "a")
	got := r.operator.Condition(condition.PresenceShown)
	if got == nil || got.Status != operatorv1.ConditionFalse || got.Reason != condition.AccessDenied ||
		!strings.Contains(got.Message, "pools b, c of") || !strings.Contains(got.Message, "client.u") || !strings.Contains(got.Message, "namespace="+ceph.PresenceNamespace) {
		t.Errorf("condition %+v", got)
	}
	c.SetCaps("u", ceph.Caps{Mon: "allow r", OSD: "profile rbd"})
	r.connect("u")
	r.sync()
	r.expectWatched("it may now", "a", "b", "c")
	if got := r.operator.Condition(condition.PresenceShown); got != nil {
		t.Errorf("condition %+v", got)
	}
}

// TestAnotherCluster: two clusters with one infra ID both say so, once that is no rollout.
func TestAnotherCluster(t *testing.T) {
	c, clock := newCeph(), newClock()
	one, other := newRig(t, c, clock, "pod-1"), newRig(t, c, clock, "pod-2")
	one.use("a")
	other.use("a", "b")
	pass := func(d time.Duration) {
		t.Helper()
		for range int(d / lookInterval) {
			clock.SetTime(clock.Now().Add(lookInterval))
			one.sync()
			other.sync()
		}
	}
	says := func(reason string, r *rig, texts ...string) {
		t.Helper()
		got := r.operator.Condition(condition.InfraIDUnshared)
		if len(texts) == 0 {
			if got != nil {
				t.Errorf("%s: condition %+v", reason, got)
			}
			return
		}
		if got == nil || got.Status != operatorv1.ConditionFalse || got.Reason != condition.InfraIDShared {
			t.Errorf("%s: condition %+v", reason, got)
			return
		}
		for _, text := range texts {
			if !strings.Contains(got.Message, text) {
				t.Errorf("%s: %q has no %q", reason, got.Message, text)
			}
		}
	}
	pass(rollout - lookInterval)
	says("it may be a rollout", one)
	pass(2 * lookInterval)
	says("it is none", one, "host pod-2 at "+other.client.ClientAddress()+" since 2026-01-02T03:04:05Z", infraID, "Ceph cluster c0ffee")
	says("it is none", other, "host pod-1")
	writes := one.operator.Writes()
	pass(rollout)
	if one.operator.Writes() != writes || len(one.events.Events()) != 1 {
		t.Errorf("it is told again: %d writes, %d events", one.operator.Writes()-writes, len(one.events.Events()))
	}

	other.connect("admin")
	pass(rollout / 2)
	says("the other one was restarted", one, "host pod-2")
	c.Stop()
	pass(2 * rollout)
	says("nobody can be asked", one, "host pod-2")
	c.Start()
	other.client.Close()
	pass(rollout - lookInterval)
	says("it may be back", one, "host pod-2")
	pass(2 * lookInterval)
	says("it is gone", one)
	one.expectWatched("the one that stays", "a")
}

// TestPredecessor: one that was killed, or is replaced, is no other cluster.
func TestPredecessor(t *testing.T) {
	c, clock := newCeph(), newClock()
	newRig(t, c, clock, "pod-1").use("a")
	c.KillWatchers()
	r := newRig(t, c, clock, "pod-1")
	r.use("a")
	for range 3 {
		clock.SetTime(clock.Now().Add(lookInterval))
		r.sync()
	}
	c.BuryWatchers()
	for range 10 {
		clock.SetTime(clock.Now().Add(lookInterval))
		r.sync()
	}
	if r.operator.Writes() != 0 {
		t.Errorf("conditions %q", r.operator.Types())
	}
}

func TestLasting(t *testing.T) {
	at := func(d time.Duration) time.Time { return newClock().Now().Add(d) }
	tests := map[string]struct {
		reason string
		looks  map[time.Duration]bool // whether others were seen
		want   bool
	}{
		"Never":   {"nobody", map[time.Duration]bool{0: false, rollout: false}, false},
		"Short":   {"a rollout", map[time.Duration]bool{0: true, rollout - 1: true}, false},
		"Long":    {"no rollout", map[time.Duration]bool{0: true, 1: true, rollout: true}, true},
		"Pause":   {"it was restarted", map[time.Duration]bool{0: true, 1: false, rollout: true}, true},
		"Rollout": {"two rollouts", map[time.Duration]bool{0: true, 1: false, 2 * rollout: true}, false},
		"Outage":  {"nobody could be asked: the dead were not buried, either", map[time.Duration]bool{0: true, 2 * rollout: true}, false},
		"Leaving": {"it may come back", map[time.Duration]bool{0: true, 1: true, rollout: true, rollout + 1: false, 2 * rollout: false}, true},
		"Gone":    {"it has not", map[time.Duration]bool{0: true, 1: true, rollout: true, rollout + 1: false, 2*rollout + 1: false}, false},
		"Silence": {"nobody could be asked for long", map[time.Duration]bool{0: true, 1: true, rollout: true, 9 * rollout: false}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var s sighting
			var times []time.Duration
			for d := range tc.looks {
				times = append(times, d)
			}
			slices.Sort(times)
			for _, d := range times {
				var who []string
				if tc.looks[d] {
					who = []string{"x"}
				}
				s = s.look(at(d), who)
			}
			if got := s.lasting(); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestForget(t *testing.T) {
	r := newRig(t, newCeph(), newClock(), "pod-1")
	r.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true})
	r.use("a", "b")
	another := "running.other.rbd"
	if _, err := r.client.Watch(t.Context(), "a", another, nil, true); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if note, err := Forget(t.Context(), r.client, infraID, nil, "rbd", "cephfs"); note != "" || err != nil {
			t.Fatal(note, err)
		}
	}
	if got := r.ceph.Watched(); !slices.Equal(got, []string{"a/" + another}) {
		t.Errorf("left: %q", got)
	}
}

// mute is a Ceph cluster in which OSDs of some pools do not answer.
type mute struct {
	Cluster
	pools []string
}

func (m *mute) Watch(ctx context.Context, pool, object string, answer []byte, create bool) (ceph.Watch, error) {
	if slices.Contains(m.pools, pool) {
		<-ctx.Done()
		return nil, ceph.ErrTimeout
	}
	return m.Cluster.Watch(ctx, pool, object, answer, create)
}

func (m *mute) RemoveWatched(ctx context.Context, pool, object string) error {
	if slices.Contains(m.pools, pool) {
		<-ctx.Done()
		return ceph.ErrTimeout
	}
	return m.Cluster.RemoveWatched(ctx, pool, object)
}

// deaf answers to every removal alike.
type deaf struct {
	Remover
	err error
}

func (d deaf) RemoveWatched(context.Context, string, string) error { return d.err }

// TestForgetUnanswered: where no OSD says anything, something may be left.
func TestForgetUnanswered(t *testing.T) {
	tests := map[string]struct {
		reason  string
		err     error
		claimed []string
		note    bool
		fails   bool
	}{
		"Denied":         {"the user could not have shown itself there", ceph.ErrDenied, []string{"a", "b"}, false, false},
		"Silent":         {"the pool may never have been used", ceph.ErrTimeout, nil, true, false},
		"SilentClaimed":  {"it was used", ceph.ErrTimeout, []string{"a"}, true, true},
		"Unheard":        {"it may be the network that refuses", ceph.ErrUnheard, nil, true, false},
		"UnheardClaimed": {"the pool was used", ceph.ErrUnheard, []string{"a"}, true, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, newCeph(), newClock(), "pod-1")
			note, err := Forget(t.Context(), deaf{r.client, tc.err}, infraID, tc.claimed, "rbd")
			if (note != "") != tc.note || (err != nil) != tc.fails {
				t.Errorf("%s: note %q, %v", tc.reason, note, err)
			}
		})
	}
}

// TestSilentPools: those that do not answer keep the others from nothing.
func TestSilentPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, ceph: newCeph()}
		r.connect("admin")
		clock := newClock()
		m, h := &mute{Cluster: r.client}, &holding{clock: clock}
		keep := func(pools ...string) {
			t.Helper()
			w := want{client: m, pools: pools, object: object, create: true}
			h.follow(t.Context(), w)
			if err := h.keep(t.Context(), w); err != nil {
				t.Error(err)
			}
			clock.Step(checkInterval)
		}
		m.pools = []string{"a", "b"}
		keep("a", "b", "c")
		r.expectWatched("two are silent", "c")
		m.pools = nil
		keep("a", "b", "c")
		r.expectWatched("all answer", "a", "b", "c")
		m.pools = []string{"a", "b"}
		r.ceph.LoseWatches()
		keep("c")
		r.expectWatched("two that are no longer used are silent", "c")
		m.pools = []string{"1", "2", "3", "4", "5"}
		r.ceph.LoseWatches()
		keep("1", "2", "3", "4", "5", "a", "b", "c")
		keep("1", "2", "3", "4", "5", "a", "b", "c")
		r.expectWatched("more are silent than are tried at a time: the turn of the others comes", "a", "b", "c")
	})
}
