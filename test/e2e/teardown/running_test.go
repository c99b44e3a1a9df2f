package teardown

import (
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	tags "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func living() {
	It("refuses everything while its operator runs, unless the infra ID is typed again", func(ctx SpecContext) {
		a := ceph.Cluster("lives-a1b2c", 1)
		one := must(a.Image(block, "one"))
		operator := connect(ctx, "an-operator", "mon", "allow r", "osd", "profile rbd")
		said := must(tags.Presence{Driver: driver.RBD.Name, Host: "pod-1", Address: "10.0.0.1", Since: time.Now()}.Encode())
		// The cluster is one, wherever it shows that it lives.
		must(operator.Watch(ctx, "fast", tags.PresenceObject(a.InfraID, driver.RBD.Kind), said, true))
		before := dump()
		for _, arguments := range [][]string{nil, {"--force"}, {"--dry-run"}, {"--pool=vms"}} {
			r := teardown(ctx, a.InfraID, arguments...)
			Expect(r.code).To(Equal(3), r.stdout+r.stderr)
			Expect(r.named("remove")).To(BeEmpty())
			Expect(r.reason(one.Name)).To(And(ContainSubstring("the operator of rbd.csi.ceph.com on host pod-1 at 10.0.0.1 since "),
				ContainSubstring("(pools fast)"), ContainSubstring("uninstall"), ContainSubstring("--force-living="+a.InfraID)))
		}
		Expect(run(ctx, "--infra-id="+a.InfraID, "--yes", "--force-living=lives").code).To(Equal(2))
		Expect(before.Changes(dump())).To(BeEmpty())
		listed := run(ctx, "--list")
		Expect(listed.stdout).To(ContainSubstring(a.InfraID + ": 1 volumes"))

		r := teardown(ctx, a.InfraID, "--force-living="+a.InfraID)
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.named("remove")).To(ConsistOf(one.Name))

		By("going on when the operator has stopped")
		two := must(a.Image(block, "two"))
		Expect(teardown(ctx, a.InfraID).code).To(Equal(3))
		operator.Close()
		r = teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.named("remove")).To(ConsistOf(two.Name))
		Expect(operatorsObject(ctx, "rm", a.InfraID).Run()).To(Succeed())
		expectNothingOf(dump(), a)
	})

	It("waits until Ceph has dropped an operator that was killed", func(ctx SpecContext) {
		a := ceph.Cluster("killed-a1b2c", 1)
		image := must(a.Image(block, "one"))
		Expect(operatorsObject(ctx, "create", a.InfraID).Run()).To(Succeed())
		operator := operatorsObject(ctx, "watch", a.InfraID)
		// It ends with its input.
		input := must(operator.StdinPipe())
		defer input.Close()
		Expect(operator.Start()).To(Succeed())
		Eventually(func() int { return teardown(ctx, a.InfraID, "--dry-run").code }).
			WithContext(ctx).WithTimeout(fixture.Patience).Should(Equal(3), "the operator runs")
		Expect(operator.Process.Kill()).To(Succeed())
		_ = operator.Wait()
		r := teardown(ctx, a.InfraID)
		Expect(r.code).To(Equal(0), r.stdout+r.stderr)
		Expect(r.named("remove")).To(ConsistOf(image.Name))
		Expect(operatorsObject(ctx, "rm", a.InfraID).Run()).To(Succeed())
		expectNothingOf(dump(), a)
	})
}

// operatorsObject is Ceph's own tool at work on what an operator watches.
func operatorsObject(ctx SpecContext, verb, infraID string) *exec.Cmd {
	GinkgoHelper()
	return must(daemons.RADOSProcess(ctx, "--pool", "fast", "--namespace", tags.PresenceNamespace, verb, tags.PresenceObject(infraID, driver.RBD.Kind)))
}
