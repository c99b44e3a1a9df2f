package virtualization

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// takeBack does with both drivers what `uninstall` does once their operators have ended.
func takeBack(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		traces, err := virtualization.Traces(ctx, env.Dynamic, d)
		Expect(err).NotTo(HaveOccurred())
		Expect(traces).NotTo(BeEmpty(), d.Name)
		for _, t := range traces {
			Expect(t.Remove(ctx)).To(Succeed(), t.What)
		}
		traces, err = virtualization.Traces(ctx, env.Dynamic, d)
		Expect(err).NotTo(HaveOccurred())
		Expect(traces).To(BeEmpty(), d.Name)
	}
}

var _ = Describe("What the operators wrote into others' objects", func() {
	It("is taken back when they are uninstalled, but for what users chose", func(ctx SpecContext) {
		d := driver.RBD
		ownClass(ctx, d, "users", func(c *storagev1.StorageClass) { c.Annotations = map[string]string{"mine": "stays"} })
		startCDI(ctx, &cdi{subresource: true, ignorant: true})
		rbd, _ := unknown()
		expectSpec(ctx, "users", rbd)
		edit(ctx, "users", fields{"cloneStrategy": "copy"})
		expectTold(ctx, d, condition.VirtualMachinesUsable, "False", condition.UserOverrides)

		By("Harvester, too")
		startHarvester(ctx)
		expectValue(ctx, driverConfig, "{"+longhorn+",", entryOf(driver.RBD), entryOf(driver.CephFS))
		expectValue(ctx, expansion, `{"driver.longhorn.io":true,`, `"`+driver.RBD.Name+`":true`, `"`+driver.CephFS.Name+`":true`)
		for _, annotation := range []string{cloneAnnotation, snapshotAnnotation, modesAnnotation} {
			Eventually(func(g Gomega) { g.Expect(class(ctx, g, "users").Annotations).To(HaveKey(annotation)) }).
				WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}
		for _, d := range driver.All {
			env.Operator(d).Kill()
		}
		DeferCleanup(func(ctx SpecContext) {
			for _, d := range driver.All {
				Expect(env.Operator(d).Restart()).To(Succeed())
			}
			env.Settle(ctx)
		})
		takeBack(ctx)
		Expect(spec(ctx, Default, "users")).To(Equal(fields{"cloneStrategy": "copy"}))
		Expect(class(ctx, Default, "users").Annotations).To(Equal(map[string]string{"mine": "stays"}))
		Expect(value(ctx, Default, driverConfig)).To(BeEmpty(), "Harvester's default counts again")
		Expect(value(ctx, Default, expansion)).To(BeEmpty())
	})
})
