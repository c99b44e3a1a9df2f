package teardown

import (
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	tags "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
		Expect(r.stdout).To(ContainSubstring("living-x1y2z: 2 volumes and snapshots; claims: none; users: none; connected: none"))
		Expect(before.Changes(dump())).To(BeEmpty())
	})

	It("refuses an infra ID without a claim where others have one, which may be a slip", func(ctx SpecContext) {
		const claim = driver.ClaimPrefix + "living-x1y2z.rbd"
		must(daemons.Command(ctx, "osd", "pool", "application", "set", "vms", "rbd", claim, "in-use"))
		before := dump()
		r := run(ctx, "--infra-id=mistyped-x1y2z", "--yes")
		Expect(r.code).To(Equal(3), r.stderr)
		Expect(r.stderr).To(And(ContainSubstring("living-x1y2z"), ContainSubstring("--unclaimed")))
		for _, escape := range []string{"--dry-run", "--unclaimed"} {
			r = teardown(ctx, "mistyped-x1y2z", escape)
			Expect(r.code).To(Equal(0), r.stderr)
			Expect(r.stderr).To(ContainSubstring("living-x1y2z"))
		}
		Expect(before.Changes(dump())).To(BeEmpty())
		Expect(run(ctx, "--list").stdout).To(ContainSubstring("living-x1y2z: 2 volumes and snapshots; claims: vms (rbd); users: none; connected: none; running: none; last seen: unknown"))
		operator := connect(ctx, "an-operator", "mon", "allow r", "osd", "profile rbd")
		begin := time.Now().UTC().Truncate(time.Second)
		watch := must(operator.Watch(ctx, "vms", tags.PresenceObject("living-x1y2z", "rbd"), nil, true))
		Expect(run(ctx, "--list").stdout).To(MatchRegexp("living-x1y2z: .*; last seen: now"))
		watch.End()
		seen := regexp.MustCompile("living-x1y2z: .*; last seen: (2.*)\n").FindStringSubmatch(run(ctx, "--list").stdout)
		Expect(seen).To(HaveLen(2))
		Expect(must(time.Parse(time.RFC3339, seen[1]))).To(And(BeTemporally(">=", begin), BeTemporally("<=", time.Now())))
		Expect(operator.RemoveWatched(ctx, "vms", tags.PresenceObject("living-x1y2z", "rbd"))).To(Succeed())
		must(daemons.Command(ctx, "osd", "pool", "application", "rm", "vms", "rbd", claim))
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
