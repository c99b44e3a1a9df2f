package teardown

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func mirrored() {
	It("refuses images that another Ceph cluster may follow, until that is disabled", func(ctx SpecContext) {
		a := ceph.Cluster("mirrored-a1b2c", 1)
		journaling := block
		journaling.Features = volumes.Exclusive
		plain := must(a.Image(block, "plain"))
		gone := a.Words()
		bySnapshot, byJournal := must(a.Image(block, "by-snapshot")), must(a.Image(journaling, "by-journal"))
		pool := block.Place.Pool
		rbd := func(arguments ...string) error {
			_, err := daemons.RBD(ctx, arguments...)
			return err
		}
		mirror := func(i *volumes.Image, arguments ...string) error {
			return rbd(slices.Concat([]string{"mirror", "image"}, arguments[:1], []string{pool + "/" + i.Name}, arguments[1:])...)
		}
		Expect(rbd("mirror", "pool", "enable", pool, "image")).To(Succeed())
		together(
			func() error { return mirror(bySnapshot, "enable", "snapshot") },
			func() error {
				if err := rbd("feature", "enable", pool+"/"+byJournal.Name, "journaling"); err != nil {
					return err
				}
				return mirror(byJournal, "enable", "journal")
			},
		)
		before := dump()

		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(bySnapshot.Name, byJournal.Name))
		for _, i := range []*volumes.Image{bySnapshot, byJournal} {
			Expect(r.reason(i.Name)).To(ContainSubstring("rbd mirror image disable " + pool + "/" + i.Name))
		}
		after := dump()
		Expect(after.About(gone...)).To(BeEmpty())
		gone = append(gone, plain.ID)
		Expect(changes(before.Without(gone...), after.Without(gone...))).To(BeEmpty())

		together(
			func() error { return mirror(bySnapshot, "disable") },
			func() error { return mirror(byJournal, "disable") },
		)
		Expect(rbd("mirror", "pool", "disable", pool)).To(Succeed())
		r = teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		expectNothingOf(dump(), a)
	})
}
