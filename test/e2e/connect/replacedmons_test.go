package connect

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// workloads are what must not restart.
func workloads(ctx SpecContext) map[string]string {
	GinkgoHelper()
	all := deployed(ctx)
	maps.DeleteFunc(all, func(what, _ string) bool { return strings.HasPrefix(what, "Secret ") })
	return all
}

// declareAgain makes the Secret right when a spec has ended.
func declareAgain() {
	DeferCleanup(func(ctx SpecContext) {
		env.Declare(ctx, env.Credentials())
		env.Settle(ctx)
	})
}

func replacedMons() {
	It("are followed step by step, until none of the first ones is left", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		before, first := workloads(ctx), ceph.Mons()
		declareAgain()
		for i, old := range first {
			Expect(ceph.AddMon(ctx, string(rune('p'+i)))).To(Succeed())
			monsListed(ctx, len(first)+1)
			Expect(ceph.RemoveMon(ctx, old)).To(Succeed())
			monsListed(ctx, len(first))
		}
		Expect(slices.ContainsFunc(ceph.Mons(), func(name string) bool { return slices.Contains(first, name) })).To(BeFalse())
		Expect(workloads(ctx)).To(Equal(before))
	})

	It("are followed when a mon of the same name comes at another address", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		before, mons := workloads(ctx), ceph.Mons()
		declareAgain()
		address := ceph.MonHost(mons[0])
		Expect(ceph.RemoveMon(ctx, mons[0])).To(Succeed())
		Expect(ceph.AddMon(ctx, mons[0])).To(Succeed())
		Expect(ceph.MonHost(mons[0])).NotTo(Equal(address))
		monsListed(ctx, len(mons))
		Expect(workloads(ctx)).To(Equal(before))
	})
}
