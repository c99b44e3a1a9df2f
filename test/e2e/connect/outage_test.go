package connect

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func outage() {
	It("is reported and changes nothing, after a restart of the operator too", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		before := deployed(ctx)
		DeferCleanup(ceph.Resume)
		Expect(ceph.Pause()).To(Succeed())
		for _, d := range driver.All {
			complains(ctx, d, "CephUnreachable")
		}
		Expect(deployed(ctx)).To(Equal(before))
		restarted := time.Now()
		for _, d := range driver.All {
			env.Operator(d).Kill()
			Expect(env.Operator(d).Restart()).To(Succeed())
		}
		for _, d := range driver.All {
			acts(ctx, d, restarted)
			complains(ctx, d, "CephUnreachable")
		}
		Expect(deployed(ctx)).To(Equal(before))

		Expect(ceph.Resume()).To(Succeed())
		env.Settle(ctx)
		Expect(deployed(ctx)).To(Equal(before))
	})
}
