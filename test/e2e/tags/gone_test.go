package tags

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func gone() {
	It("go with their cluster, and so do its users and its marks on pools", func(ctx SpecContext) {
		daemons := env.Cluster.Ceph()
		users := func(g Gomega) string {
			out, err := daemons.Command(ctx, "auth", "ls")
			g.Expect(err).NotTo(HaveOccurred())
			return string(out)
		}
		pools := func(g Gomega) string {
			out, err := daemons.Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
			g.Expect(err).NotTo(HaveOccurred())
			return string(out)
		}
		Eventually(func(g Gomega) {
			g.Expect(users(g)).To(ContainSubstring("." + infraID))
			g.Expect(pools(g)).To(ContainSubstring("nodelete." + infraID))
		}).WithContext(ctx).Should(Succeed())
		for _, d := range driver.All {
			Expect(env.Operator(d).Stop(ctx)).To(Succeed())
			DeferCleanup(env.Operator(d).Restart)
		}
		_, code := teardownAlone(ctx, "--infra-id="+infraID, "--yes")
		Expect(code).To(Equal(0), "what somebody wanted to outlive the cluster stays, which is no refusal")
		Expect(pools(Default)).To(ContainSubstring("nodelete."+infraID), "volumes are still there")
		reasons, code := teardownAlone(ctx, "--infra-id="+infraID, "--yes", "--include-retained")
		Expect(code).To(Equal(0), "%v", reasons)
		Expect(users(Default)).NotTo(ContainSubstring(infraID))
		Expect(pools(Default)).NotTo(ContainSubstring("nodelete." + infraID))
		for _, k := range kinds {
			_, err := k.read(ctx, k.uuid(1, 1))
			Expect(err).To(HaveOccurred(), "a volume of the cluster")
			_, err = k.read(ctx, k.uuid(8, 1))
			Expect(err).NotTo(HaveOccurred(), "a volume of another cluster")
			_, err = ours[k.driver.Kind].read(ctx)
			Expect(err).To(HaveOccurred(), "a snapshot of the cluster")
			_, err = theirs[k.driver.Kind].read(ctx)
			Expect(err).NotTo(HaveOccurred(), "a snapshot of another cluster")
		}
	})
}
