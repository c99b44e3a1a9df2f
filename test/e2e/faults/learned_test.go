package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// learned is how a change goes without a fault, and how it is taken back.
type learned struct{ there, back passage }

// passage leads from one state to another.
type passage struct {
	end both
	// writes are how many the operator makes to the API server, calls to Ceph.
	writes, calls int
	// flaps are how conditions change.
	flaps map[string][]string
}

type both struct {
	kubernetes, ceph state
	volumes          volumes.Dump
}

// attempt is a fault at a write of a change, or of taking it back. Without a fault it is none.
type attempt struct {
	fault faults.Fault
	at    int
	back  bool
}

func (a attempt) String() string {
	switch {
	case a.fault.Name == "":
		return ""
	case a.back:
		return fmt.Sprintf("%s at write %d of the way back", a.fault.Name, a.at)
	}
	return fmt.Sprintf("%s at write %d", a.fault.Name, a.at)
}

// arm forgets the writes so far, and has the fault happen at one of those that come.
func arm(ctx context.Context, d driver.Driver, one attempt) {
	GinkgoHelper()
	for _, other := range driver.All {
		if other.Name != d.Name {
			proxies[other.Name].Arm(faults.Fault{}, 0, "", nil)
			Expect(calls[other.Name].Arm(faults.Fault{}, 0)).To(Succeed())
		}
	}
	write, call := one.at, 0
	if one.fault.Call != "" {
		write, call = 0, one.at
	}
	proxies[d.Name].Arm(one.fault, write, now(ctx), strike(ctx, d, one.fault))
	Expect(calls[d.Name].Arm(one.fault, call)).To(Succeed())
}

// awaitHit waits until the fault has happened, or does not any more: what was deleted is there again in the end, and at
// the beginning nobody has been told that it is gone.
func awaitHit(ctx context.Context, d driver.Driver, one attempt) {
	GinkgoHelper()
	_ = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, begun, true, func(context.Context) (bool, error) { return hit(d, one) != "", nil })
}

// hit is the write that the fault has happened at, if any.
func hit(d driver.Driver, one attempt) string {
	GinkgoHelper()
	if one.fault.Call == "" {
		return proxies[d.Name].Hit()
	}
	call, err := calls[d.Name].Hit()
	Expect(err).NotTo(HaveOccurred())
	return call
}

// learn makes a change and takes it back.
func learn(ctx context.Context, d driver.Driver, c change) learned {
	GinkgoHelper()
	out := learned{}
	if c.backOnly {
		c.do(ctx)
	} else {
		out.there = pass(ctx, d, c.do, max(begun, c.begun))
	}
	out.back = pass(ctx, d, c.undo, begun)
	if c.thereOnly {
		out.back.writes, out.back.calls = 0, 0
	}
	return out
}

func pass(ctx context.Context, d driver.Driver, way func(context.Context), begun time.Duration) passage {
	GinkgoHelper()
	begin := time.Now()
	arm(ctx, d, attempt{})
	way(ctx)
	out := passage{end: resting(ctx, begun)}
	Expect(harm(begin)).To(BeEmpty(), "taken from volumes in use")
	writes := proxies[d.Name].Writes()
	toCeph, err := calls[d.Name].Writes()
	Expect(err).NotTo(HaveOccurred())
	out.writes, out.calls, out.flaps = len(writes), len(toCeph), flaps(d, begin)
	AddReportEntry(fmt.Sprintf("%d writes to the API server, %d to Ceph", out.writes, out.calls), strings.Join(append(writes, toCeph...), "\n"))
	return out
}

// begun is how long after a change its writes have begun at the latest, unless it says otherwise: a rest before that is the one before.
const begun = 10 * time.Second

// resting is the state once nobody writes any more.
func resting(ctx context.Context, begun time.Duration) both {
	GinkgoHelper()
	rest(ctx, begun)
	return both{kubernetes: kubernetes(ctx), ceph: inCeph(ctx), volumes: dumpVolumes(Default)}
}

// rest waits until nobody writes any more, of those too who begin so late.
func rest(ctx context.Context, begun time.Duration) {
	GinkgoHelper()
	changed := time.Now()
	Eventually(func(g Gomega) {
		revive(g)
		g.Expect(time.Since(changed)).To(BeNumerically(">", begun))
	}).WithContext(ctx).WithTimeout(2 * fixture.Patience).Should(Succeed())
	Eventually(func(g Gomega) {
		revive(g)
		g.Expect(env.InMotion(ctx, g)).To(BeEmpty())
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).WithPolling(time.Second).Should(Succeed())
	env.Calm(ctx)
}

// cases are all faults at all writes.
func (l learned) cases() []attempt {
	var out []attempt
	for _, back := range []bool{false, true} {
		way := map[bool]passage{false: l.there, true: l.back}[back]
		for _, of := range []struct {
			faults []faults.Fault
			writes int
		}{{faults.OfAPI, way.writes}, {faults.OfCeph, way.calls}} {
			for _, f := range of.faults {
				for at := range f.Attempts(of.writes) {
					out = append(out, attempt{f, at + 1, back})
				}
			}
		}
	}
	return out
}

// walk is a way of a change, and the attempt on it, if any.
type walk struct {
	passage
	step    func(context.Context)
	attempt attempt
}

func (w walk) struck() bool { return w.attempt.fault.Name != "" }

// expectSame goes the way, and returns the write that the fault has happened at, if any, and how long the way took.
func (w walk) expectSame(ctx context.Context, d driver.Driver, c change) (what string, took time.Duration) {
	GinkgoHelper()
	if c.backOnly && !w.attempt.back {
		w.step(ctx)
		return "", 0
	}
	begin := time.Now()
	arm(ctx, d, w.attempt)
	defer func() {
		if ctx.Err() == nil {
			arm(ctx, d, attempt{}) // It may still wait for a write, or for another one.
			Eventually(revive).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		}
	}()
	w.step(ctx)
	walked := time.Now()
	if w.struck() {
		awaitHit(ctx, d, w.attempt)
	}
	expectState(ctx, d, w.end, patience(c, w.attempt))
	took = time.Since(walked)
	Expect(harm(begin)).To(BeEmpty(), "taken from volumes in use")
	if !w.struck() {
		return "", took
	}
	Expect(flapping(flaps(d, begin), w.flaps, allowed(w.attempt.fault, w.writes+w.calls))).To(BeEmpty())
	return hit(d, w.attempt), took
}

// patience is how long a way may take until all is as it is to be: a minute, and what nobody can hurry.
func patience(c change, one attempt) time.Duration {
	limit := fixture.Patience
	if !one.back {
		limit += c.begun
	}
	if one.fault.Call == faults.Hanging || one.fault.Call == faults.Belated || one.fault.Silent == faults.Room {
		limit += faults.Delay * time.Second
	}
	return limit
}

// expectState waits for it and for the end of the fault.
func expectState(ctx context.Context, d driver.Driver, want both, limit time.Duration) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		revive(g)
		g.Expect(proxies[d.Name].Clear() && silenced.Load() == 0).To(BeTrue(), "the fault goes on")
		g.Expect(kubernetes(ctx).differences(want.kubernetes)).To(BeEmpty())
		g.Expect(inCeph(ctx).differences(want.ceph)).To(BeEmpty())
		g.Expect(want.volumes.Changes(dumpVolumes(g))).To(BeEmpty())
	}).WithContext(ctx).WithTimeout(limit).WithPolling(fixture.CephPolling).Should(Succeed())
}
