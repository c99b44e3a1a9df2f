package teardown

import (
	"regexp"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func bystanders() {
	var a, b *volumes.Cluster
	var source *volumes.Image
	var alone, before volumes.Dump

	It("is prepared with everything that ceph-csi makes, of both, interleaved", func(SpecContext) {
		a, b = ceph.Cluster("gone-a1b2c", 1), ceph.Cluster("stays-d3e4f", 2)
		a.Instance = "gone" // B's is ceph-csi's own.
		source = must(b.Image(block, "shared"))
		shared := must(b.Subvolume(files, "shared"))
		sold := must(a.Subvolume(files, "sold"))
		By("laying both out")
		together(slices.Concat(
			rowsOf(a, imageRows), rowsOf(b, imageRows), rowsOf(a, subvolumeRows), rowsOf(b, subvolumeRows),
			[]func() error{
				// What nobody's ceph-csi made.
				func() error { return ceph.CreateImage(block.Place, "by-hand") },
				func() error { return must(b.Image(block, "backed-up")).Copy("backup") },
				// B has full copies of A's.
				func() error {
					s, err := a.SubvolumeSnapshot(sold, "sold")
					if err != nil {
						return err
					}
					_, err = b.RestoreSubvolume(s, files, "bought")
					return err
				},
			},
		)...)
		By("looking at what is there before the clones across")
		alone = dump().About(source.ID)
		By("cloning across")
		// A has clones and snapshots of B's.
		together(
			func() error { _, err := a.CloneImage(source, "of-shared"); return err },
			func() error {
				s, err := a.ImageSnapshot(source, "of-shared")
				if err != nil {
					return err
				}
				_, err = a.Restore(s, block, "restored-shared")
				return err
			},
			func() error { _, err := a.SubvolumeSnapshot(shared, "of-shared"); return err },
		)
		// From here on no copy is finished any more, whatever restarts.
		Expect(ceph.HoldClones(time.Hour)).To(Succeed())
		must(b.PendingClone(shared, "in-flight"))
		By("looking at everything")
		before = dump()
	})

	It("is shown by --dry-run, which changes nothing", func(ctx SpecContext) {
		r := teardown(ctx, a.InfraID, "--dry-run")
		Expect(r.named("refuse")).To(BeEmpty())
		Expect(len(r.named("remove"))).To(BeNumerically(">", 40))
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("leaves the other bit for bit, and nothing of its own", func(ctx SpecContext) {
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		after := dump()
		expectNothingOf(after, a)
		changes := before.Without(a.Words()...).Changes(after.Without(a.Words()...))
		ofSource := regexp.MustCompile(`rbd_header\.` + source.ID + ` omap (snapshot_|snap_children_|features|op_features|snap_seq)`)
		others := slices.DeleteFunc(changes, ofSource.MatchString)
		Expect(others).To(BeEmpty(), "something that is not the cluster's has changed")
		// The volume that was cloned is as it was before its clones, but for librbd's counter.
		sequence := regexp.MustCompile(` omap snap_seq`)
		Expect(slices.DeleteFunc(alone.Changes(after.About(source.ID)), sequence.MatchString)).To(BeEmpty())
	})

	It("has nothing to do a second time", func(ctx SpecContext) {
		before := dump()
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(0))
		Expect(r.named("remove")).To(BeEmpty())
		Expect(before.Changes(dump())).To(BeEmpty())
	})
}

// expectNothingOf: not an object, a key, a file or a trash entry.
func expectNothingOf(d volumes.Dump, c *volumes.Cluster) {
	GinkgoHelper()
	Expect(d.About(append(c.Words(), c.InfraID)...)).To(BeEmpty(), "left of "+c.InfraID)
}
