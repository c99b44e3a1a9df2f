package faults

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
)

// upgraded has the former version run, end, and leave the cluster to the present one.
func upgraded(d driver.Driver) change {
	var before former.Version
	return change{name: "an upgrade from the former version", backOnly: true, prepare: func(ctx context.Context) {
		before = fixture.BuildFormer(ctx)
		env.RunVersions()
		DeferCleanup(func(ctx SpecContext) {
			if env.Operator(d) == nil {
				start(ctx, d, env.Program())
			}
		})
	}, do: func(ctx context.Context) {
		began := time.Now()
		env.StopOperator(ctx, d)
		start(ctx, d, before.Binary())
		rest(ctx, begun)
		env.StopOperator(ctx, d)
		env.Lawless(began, time.Now()) // The roles are those of the present version.
	}, undo: func(ctx context.Context) { start(ctx, d, env.Program()) }}
}

// restored has a class with a pool of its own come after a backup, to which the cluster then goes back.
func restored(d driver.Driver) change {
	// The operator starts, and then looks.
	return change{name: "a restored etcd", begun: 2 * looks, do: func(ctx context.Context) {
		env.SaveEtcd(ctx)
		saved := time.Now()
		createClass(ctx, d)
		Eventually(func(g Gomega) {
			revive(g)
			env.RenewedLeases(ctx, g, saved)
			g.Expect(slices.Contains(env.ProtectedPools(ctx, g), another(d))).To(BeTrue())
		}).WithContext(ctx).WithTimeout(2 * fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
		env.LeaveBehind(ctx)
		env.RestoreEtcd(ctx)
		back := time.Now()
		// Who has not renewed its lease since then has yet to see it, and ends.
		Eventually(func(g Gomega) {
			revive(g)
			env.RenewedLeases(ctx, g, back)
		}).WithContext(ctx).WithTimeout(2 * fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
	}, undo: func(context.Context) {}}
}

// revive starts operators again that have ended, as the kubelet does.
func revive(g Gomega) {
	for _, d := range driver.All {
		if p := env.Operator(d); p != nil && p.Exited() != nil {
			g.Expect(p.Restart()).To(Succeed())
		}
	}
}
