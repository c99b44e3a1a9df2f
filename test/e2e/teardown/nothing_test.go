package teardown

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func nothing() {
	It("finds nothing by an infra ID that no volume has, and shows those that are there", func(ctx SpecContext) {
		must(ceph.Cluster("living-x1y2z", 1).Image(block, "web"))
		must(ceph.Cluster("living-x1y2z", 1).Subvolume(files, "web"))
		before := dump()
		r := teardown(ctx, "mistyped-x1y2z")
		Expect(r.code).To(Equal(0))
		Expect(r.named("remove")).To(BeEmpty())
		Expect(r.Tags).To(Equal(map[string]int{"living-x1y2z": 2}))
		r = run(ctx, "--infra-id=mistyped-x1y2z", "--yes")
		Expect(r.code).To(Equal(0))
		Expect(r.stdout + r.stderr).To(ContainSubstring("living-x1y2z"))
		r = run(ctx, "--list")
		Expect(r.code).To(Equal(0), r.stderr)
		Expect(r.stdout).To(ContainSubstring("living-x1y2z: 2 volumes and snapshots; claims: none; connected: none"))
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("does not run without an infra ID", func(ctx SpecContext) {
		before := dump()
		for _, arguments := range [][]string{
			{"--yes"}, {"--yes", "--infra-id="}, {"--yes", "--infra-id", ""}, {"--yes", "--infra-id= "}, {"--yes", "--infra-id=\t\n"},
			{"--yes", "--infra-id=", "--force", "--include-retained"}, {"--dry-run"},
		} {
			r := run(ctx, arguments...)
			Expect(r.code).To(Equal(2), "%q", arguments)
			Expect(r.stderr).To(ContainSubstring("infra-id"))
		}
		Expect(before.Changes(dump())).To(BeEmpty())
	})
}
