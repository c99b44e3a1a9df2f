package pools

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// manyLooks is much longer than the suite has things withdrawn after.
const manyLooks = 40 * time.Second

func restored() {
	const image = "newer/csi-vol-6e696bba-064f-11ec-a251-0242ac110002"
	It("keep the claims and rights that today's volumes need", func(ctx SpecContext) {
		newPool(ctx, "older")
		newClass(ctx, driver.RBD, "older", map[string]string{"pool": "older"})
		protected(ctx, "older", rbdUser)
		env.SaveEtcd(ctx)
		saved := time.Now()

		env.LeaveBehind(ctx)
		p := newPool(ctx, "newer")
		newClass(ctx, driver.RBD, "newer", map[string]string{"pool": "newer"})
		rbd(ctx, "create", "--size", "1M", image)
		rbd(ctx, "image-meta", "set", image, cephtypes.TagCluster, infraID)
		newVolume(ctx, "newer", csi(driver.RBD, p.ID, map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "pool": "newer"}))
		protected(ctx, "newer", rbdUser)
		rights := ContainSubstring("profile rbd pool=newer")
		caps := func(g Gomega) string {
			out, err := env.Cluster.Ceph().Command(ctx, "auth", "get", "client."+driver.RBD.NodeUser(infraID))
			g.Expect(err).NotTo(HaveOccurred())
			return string(out)
		}
		Eventually(caps).WithContext(ctx).WithPolling(fixture.CephPolling).Should(rights)
		safe := func(g Gomega) {
			newer := pool(ctx, g, "newer")
			g.Expect(users(newer)).To(ConsistOf(rbdUser, ""))
			g.Expect(newer.NoDelete).To(BeTrue())
			g.Expect(caps(g)).To(rights)
		}

		Eventually(func(g Gomega) { env.RenewedLeases(ctx, g, saved) }).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		env.RestoreEtcd(ctx)
		By("being looked after by operators that start anew")
		for _, d := range driver.All {
			o := env.Operator(d)
			Eventually(o.Done()).WithContext(ctx).WithTimeout(fixture.Patience).Should(BeClosed(), "its caches would show what is no more, and nothing new")
			Expect(o.Exited()).To(MatchError(ContainSubstring("status 1")))
			Expect(o.Restart()).To(Succeed())
		}
		newPool(ctx, "latest")
		newClass(ctx, driver.RBD, "latest", map[string]string{"pool": "latest"})
		protected(ctx, "latest", rbdUser)
		says(ctx, driver.RBD, "VolumesSafe", operatorv1.ConditionTrue, "AsExpected", `"newer"`, "has no PersistentVolume", image)
		Consistently(safe).WithContext(ctx).WithTimeout(manyLooks).WithPolling(fixture.CephPolling).Should(Succeed())

		By("being given up with the last volume")
		rbd(ctx, "rm", image)
		released(ctx, "newer")
		Eventually(caps).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).ShouldNot(rights)
		protected(ctx, "older", rbdUser)
	})
}

func rbd(ctx context.Context, arguments ...string) {
	GinkgoHelper()
	_, err := env.Cluster.Ceph().RBD(ctx, arguments...)
	Expect(err).NotTo(HaveOccurred())
}
