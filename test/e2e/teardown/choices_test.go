package teardown

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	tags "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

func choices() {
	var c *volumes.Cluster
	var image, retained *volumes.Image
	var subvolume, shown *volumes.Subvolume

	It("asks, and removes nothing unless somebody says yes", func(ctx SpecContext) {
		c = ceph.Cluster("chosen-a1b2c", 1)
		image, retained = must(c.Image(block, "one")), must(c.Image(block, "retained"))
		subvolume, shown = must(c.Subvolume(files, "one")), must(c.Subvolume(files, "shown"))
		before := dump()
		r := run(ctx, "--infra-id="+c.InfraID)
		Expect(r.code).To(Equal(2))
		Expect(r.stderr).To(ContainSubstring("nothing was removed"))
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("refuses what --pv-list names", func(ctx SpecContext) {
		list := filepath.Join(GinkgoT().TempDir(), "handles")
		content := strings.Join([]string{image.Handle(), must(subvolume.Handle())}, "\n") + "\n"
		Expect(os.WriteFile(list, []byte(content), 0o600)).To(Succeed())
		before := dump()
		r := teardown(ctx, c.InfraID, "--dry-run", "--pv-list="+list)
		Expect(r.code).To(Equal(3), r.stdout+r.stderr)
		Expect(r.named("refuse")).To(ConsistOf(image.Name, subvolume.Name))
		Expect(r.reason(image.Name)).To(ContainSubstring(list))
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("removes with --volume those alone", func(ctx SpecContext) {
		before := dump()
		r := teardown(ctx, c.InfraID, "--volume="+image.Handle(), "--volume="+must(subvolume.Handle()))
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.named("remove")).To(ConsistOf(image.Name, subvolume.Name))
		gone := []string{image.UUID(), image.ID, subvolume.UUID()}
		after := dump()
		Expect(after.About(gone...)).To(BeEmpty())
		Expect(changes(before.Without(gone...), after.Without(gone...))).To(BeEmpty())
	})

	It("keeps what was meant to stay, and what another cluster has a snapshot of", func(ctx SpecContext) {
		Expect(retained.SetMetadata(map[string]string{tags.TagRetain: tags.RetainMark})).To(Succeed())
		needed := must(c.Subvolume(files, "needed"))
		backing := must(c.SubvolumeSnapshot(needed, "backing"))
		shallow := must(c.Shallow(backing, "shallow"))
		Expect(backing.SetMetadata(map[string]string{tags.TagRetainShown(shallow.UUID()): tags.RetainMark})).To(Succeed())
		other := ceph.Cluster("guest-d3e4f", 2)
		snapshot := must(other.SubvolumeSnapshot(shown, "guest"))
		before := dump()
		r := teardown(ctx, c.InfraID)
		Expect(r.named("keep")).To(ContainElements(retained.Name, shallow.Name, backing.Name, needed.Name))
		Expect(r.reason(retained.Name)).To(ContainSubstring("--include-retained"))
		after := dump()
		Expect(after.About(retained.ID)).To(Equal(before.About(retained.ID)))
		Expect(before.About(shallow.UUID(), backing.UUID(), needed.UUID()).Changes(after.About(shallow.UUID(), backing.UUID(), needed.UUID()))).To(BeEmpty())
		Expect(after.About(snapshot.UUID())).NotTo(BeEmpty(), "the guest's snapshot")

		Expect(snapshot.Delete()).To(Succeed())
		r = teardown(ctx, c.InfraID, "--include-retained")
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		expectNothingOf(dump(), c)
	})
}
