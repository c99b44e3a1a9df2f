package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// learned is how a change goes without a fault.
type learned struct {
	// before and after are the states that it leads from and to.
	before, after both
	// writes are how many the operator makes.
	writes int
	// flaps are how often conditions change.
	flaps map[string]int
}

type both struct{ kubernetes, ceph state }

// attempt is a fault at a write of a change.
type attempt struct {
	fault faults.Fault
	at    int
}

func (a attempt) String() string { return fmt.Sprintf("%s at write %d", a.fault.Name, a.at) }

// learn makes a change and takes it back.
func learn(ctx context.Context, d driver.Driver, c change) learned {
	GinkgoHelper()
	begin := time.Now()
	proxies[d.Name].Arm(faults.Fault{}, 0, "", nil)
	c.do(ctx)
	out := learned{after: resting(ctx), writes: len(proxies[d.Name].Writes()), flaps: flaps(d, begin)}
	AddReportEntry(fmt.Sprintf("%d writes", out.writes), strings.Join(proxies[d.Name].Writes(), "\n"))
	c.undo(ctx)
	out.before = resting(ctx)
	return out
}

// begun is how long after a change its writes have begun at the latest: a rest before that is the one before.
const begun = 10 * time.Second

// resting is the state once nobody writes any more.
func resting(ctx context.Context) both {
	GinkgoHelper()
	changed := time.Now()
	Eventually(func() time.Duration { return time.Since(changed) }).WithContext(ctx).Should(BeNumerically(">", begun))
	env.Rest(ctx)
	return both{kubernetes: kubernetes(), ceph: inCeph(ctx)}
}

// cases are all faults at all writes.
func (l learned) cases() []attempt {
	var out []attempt
	for at := range l.writes {
		for _, f := range faults.All {
			out = append(out, attempt{f, at + 1})
		}
	}
	return out
}

// expectSame makes the change with a fault, and takes it back.
func (l learned) expectSame(ctx context.Context, d driver.Driver, c change, one attempt) {
	GinkgoHelper()
	By(one.String())
	begin, proxy := time.Now(), proxies[d.Name]
	proxy.Arm(one.fault, one.at, now(ctx), strike(d, one.fault))
	c.do(ctx)
	expectState(ctx, d, l.after)
	Expect(flapping(flaps(d, begin), l.flaps, allowed(one.fault))).To(BeEmpty())
	AddReportEntry(fmt.Sprintf("%s, %s: as without it after %.1f s", one, proxy.Hit(), time.Since(begin).Seconds()))
	proxy.Arm(faults.Fault{}, 0, "", nil)
	c.undo(ctx)
	expectState(ctx, d, l.before)
}

// expectState waits for it and for the end of the fault, and starts an operator again that a fault has ended, as the kubelet does.
func expectState(ctx context.Context, d driver.Driver, want both) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		if env.Operator(d).Exited() != nil {
			g.Expect(env.Operator(d).Restart()).To(Succeed())
		}
		g.Expect(proxies[d.Name].Clear() && silenced.Load() == 0).To(BeTrue(), "the fault goes on")
		g.Expect(kubernetes().differences(want.kubernetes)).To(BeEmpty())
		g.Expect(inCeph(ctx).differences(want.ceph)).To(BeEmpty())
	}).WithContext(ctx).WithTimeout(2 * fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
}
