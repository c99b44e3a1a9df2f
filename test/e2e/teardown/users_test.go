package teardown

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func users() {
	It("leaves the parents of others' clones to the trash with --keep-for-children, until these go", func(ctx SpecContext) {
		a, b := ceph.Cluster("parent-a1b2c", 1), ceph.Cluster("child-d3e4f", 2)
		parent := must(a.Image(block, "parent"))
		clone := must(b.CloneImage(parent, "clone"))
		before := dump()
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.reason(parent.Name)).To(ContainSubstring(clone.Temp()))
		Expect(before.Changes(dump())).To(BeEmpty())

		r = teardown(ctx, a.InfraID, "--keep-for-children")
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.Items[slices.IndexFunc(r.Items, func(i item) bool { return i.Name == parent.Name })].Note).To(ContainSubstring("trash"))
		after := dump()
		Expect(after.About(parent.UUID())).NotTo(HaveKey(ContainSubstring("csi.volume."+parent.UUID())), "its journal")
		ofClone := []string{clone.UUID(), clone.ID}
		Expect(before.About(ofClone...).Without(parent.UUID(), parent.ID).Changes(after.About(ofClone...).Without(parent.UUID(), parent.ID))).To(BeEmpty())

		// With the clone gone, the mgr removes the parent some time, or the next run at once.
		Expect(clone.Delete()).To(Succeed())
		for _, c := range []*volumes.Cluster{b, a} {
			Eventually(func() int { return teardown(ctx, c.InfraID).code }).WithContext(ctx).WithTimeout(limit).Should(Equal(0))
		}
		// The mgr may be in the middle of one, and forgets its task when it finds no image any more.
		Eventually(func() []string {
			words := slices.Concat(a.Words(), b.Words(), []string{a.InfraID, b.InfraID})
			return slices.DeleteFunc(volumes.Dump{}.Changes(dump().About(words...)), func(line string) bool { return strings.Contains(line, "rbd_task") })
		}).WithContext(ctx).WithTimeout(limit).Should(BeEmpty())
	})
}
