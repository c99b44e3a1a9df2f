package teardown

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func refusals() {
	It("refuses what inherited the tag and what others hang on, and removes the rest", func(ctx SpecContext) {
		a, b := ceph.Cluster("refused-a1b2c", 1), ceph.Cluster("refused-d3e4f", 2)
		// What may go.
		must(a.Image(block, "plain"))
		must(a.Subvolume(files, "plain"))
		gone := a.Words()
		// An administrator's copies and clones.
		original := must(a.Image(block, "original"))
		Expect(original.Copy("refused-cp")).To(Succeed())
		Expect(original.DeepCopy("refused-deep")).To(Succeed())
		parents := map[string]*volumes.Image{"refused-v1": must(a.Image(block, "v1")), "refused-v2": must(a.Image(block, "v2"))}
		Expect(parents["refused-v1"].AdminsClone("refused-v1", 1)).To(Succeed())
		Expect(parents["refused-v2"].AdminsClone("refused-v2", 2)).To(Succeed())
		// Another cluster's restore that is not finished, and a clone that is.
		snapshot := must(a.ImageSnapshot(must(a.Image(block, "snapped")), "snapped"))
		unfinished := must(b.UnfinishedRestore(snapshot, block, "unfinished"))
		cloned := must(a.Image(block, "cloned"))
		must(b.CloneImage(cloned, "clone"))
		// A volume whose journal a ceph-csi of old kept in another pool.
		split := must(a.Image(block, "split"))
		Expect(split.SplitJournal("fast")).To(Succeed())
		// A clone in flight has no tag yet, and holds its source.
		source := must(a.Subvolume(files, "source"))
		flying := must(a.PendingClone(source, "flying"))
		before := dump()

		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(
			"refused-cp", "refused-deep", "refused-v1", "refused-v2", parents["refused-v1"].Name, parents["refused-v2"].Name,
			unfinished.Name, snapshot.Name, snapshot.Source.Name, cloned.Name, source.Name, split.Name,
		))
		Expect(r.reason(split.Name)).To(ContainSubstring(`its journal is in pool "fast"`))
		Expect(r.reason(source.Name)).To(ContainSubstring(flying.Name))
		Expect(r.reason(unfinished.Name)).To(ContainSubstring("unfinished"))
		Expect(r.reason("refused-cp")).To(ContainSubstring("by hand"))
		after := dump()
		Expect(after.About(append(gone, original.UUID(), original.ID)...)).To(BeEmpty())
		mine := append(gone, original.UUID(), original.ID)
		Expect(before.Without(mine...).Changes(after.Without(mine...))).To(BeEmpty())
	})

	It("refuses everything while an image is in use, and that image alone with --force", func(ctx SpecContext) {
		a := ceph.Cluster("alive-a1b2c", 1)
		used, free := must(a.Image(block, "used")), must(a.Image(block, "free"))
		user := must(used.Use())
		before := dump()
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(used.Name, free.Name))
		Expect(r.Alive).To(HaveLen(1))
		Expect(before.Changes(dump())).To(BeEmpty())

		r = teardown(ctx, a.InfraID, "--force")
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(used.Name))
		after := dump()
		Expect(after.About(free.UUID(), free.ID)).To(BeEmpty())
		Expect(before.Without(free.UUID(), free.ID).Changes(after)).To(BeEmpty())

		Expect(user.Close()).To(Succeed())
		Expect(teardown(ctx, a.InfraID).code).To(Equal(0))
		expectNothingOf(dump(), a)
	})
}
