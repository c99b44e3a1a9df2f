package connect

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// monsListed waits until pods of both drivers are told of all mons.
func monsListed(ctx SpecContext, count int) {
	GinkgoHelper()
	begin := time.Now()
	mons := env.MonAddresses(ctx)
	Expect(mons).To(HaveLen(count))
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			entries := env.ConfigJSON(ctx, g, d)
			g.Expect(entries).To(HaveLen(1))
			g.Expect(entries[0].Monitors).To(ConsistOf(mons))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	}
	AddReportEntry(fmt.Sprintf("%d mons, in config.json %.1f s after Ceph's quorum", count, time.Since(begin).Seconds()))
}

func newMons() {
	It("reach config.json within seconds, and no pod restarts", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		before := workloads(ctx)
		DeferCleanup(func(ctx SpecContext) {
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
		})
		Expect(ceph.AddMon(ctx, "d")).To(Succeed())
		monsListed(ctx, 4)
		Expect(ceph.RemoveMon(ctx, "a")).To(Succeed())
		monsListed(ctx, 3)
		Expect(workloads(ctx)).To(Equal(before))
	})

	It("are found again after a restart, though all mons of ceph.conf are gone", func(ctx SpecContext) {
		before := workloads(ctx)
		DeferCleanup(func(ctx SpecContext) {
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
		})
		data := env.Credentials()
		nobodyThere(data)
		for _, d := range driver.All {
			env.Operator(d).Kill()
		}
		env.Declare(ctx, data)
		for _, d := range driver.All {
			Expect(env.Operator(d).Restart()).To(Succeed())
		}
		Expect(env.Cluster.Ceph().AddMon(ctx, "e")).To(Succeed())
		monsListed(ctx, 4)
		env.Settle(ctx)
		Expect(workloads(ctx)).To(Equal(before))
	})
}
