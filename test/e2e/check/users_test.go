package check

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// silentRefusals is how long a user without rights may take a busy machine; it is 5 s otherwise, and was
// half a minute when each refusal was waited for.
const silentRefusals = 20 * time.Second

func users() {
	It("tells a wrong key from mons that do not answer", func(ctx SpecContext) {
		flags := as(ctx, "gone", "mon", "allow r")
		_, err := env.Cluster.Ceph().Command(ctx, "auth", "rm", "client.gone")
		Expect(err).NotTo(HaveOccurred())
		r := report(ctx, flags...)
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(Equal([]string{"Ceph/connection"}))
		Expect(r.line("Ceph", "connection").Message).To(ContainSubstring("refuse client.gone"))
		Expect(r.line("User", "minting").State).To(Equal("unknown"))
		Expect(r.stderr).To(BeEmpty(), "librados is silent")
	})

	It("accepts one that serves both drivers and may not make users", func(ctx SpecContext) {
		flags := as(ctx, "openshift-csi",
			"mon", `allow r, allow command "osd blocklist", allow command "osd pool create", allow command "osd pool application enable"`,
			"mgr", "allow rw", "osd", "profile rbd, allow rw tag cephfs metadata=*, allow rw tag cephfs data=*", "mds", "allow rw")
		r := report(ctx, append(flags, kubeconfig())...)
		Expect(r.wrong()).To(BeEmpty())
		Expect(r.code).To(Equal(0))
		Expect(r.line("User", "minting").State).To(Equal("note"))
		Expect(r.line("User", "passthrough RBD").State).To(Equal("ok"))
		Expect(r.line("User", "passthrough CephFS").State).To(Equal("unknown"), "nobody sees its own caps for mds")
		Expect(r.line("User", "pool protection").State).To(Equal("note"))
	})

	It("names each right that one for reading lacks, and the command that gives them does", func(ctx SpecContext) {
		flags := append(as(ctx, "reader", "mon", "allow r"), "--pool=vms")
		r := report(ctx, flags...)
		AddReportEntry("an answer about a user without rights took", r.took.String())
		Expect(r.took).To(BeNumerically("<", silentRefusals), "OSDs refuse by silence since Ceph 18")
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(Equal([]string{"CephFS/subvolume group", "User/passthrough CephFS", "User/passthrough RBD"}))
		rbd := r.line("User", "passthrough RBD")
		Expect(rbd.Message).To(And(ContainSubstring(`"osd blocklist"`), ContainSubstring(`"rbd task add flatten"`), ContainSubstring("pool vms")))
		fs := r.line("User", "passthrough CephFS")
		Expect(fs.Message).To(And(ContainSubstring(`"fs subvolume create"`), ContainSubstring(cephdaemons.Filesystem+"-data")))

		Expect(rbd.Fix).To(HaveLen(1))
		shell(ctx, rbd.Fix[0])
		r = report(ctx, flags...)
		Expect(r.wrong()).To(BeEmpty(), "after "+rbd.Fix[0])
		Expect(r.line("User", "pool protection").State).To(Equal("ok"))
	})

	It("does not ask rights to data of one that makes users", func(ctx SpecContext) {
		flags := append(as(ctx, "minter",
			"mon", `allow r, allow command "osd pool create", allow command "osd pool application enable", allow command "auth get" with entity prefix client.csi-, allow command "auth get-or-create" with entity prefix client.csi-, allow command "auth caps" with entity prefix client.csi-`,
			"mgr", "allow module volumes rw"), kubeconfig())
		r := report(ctx, flags...)
		Expect(r.wrong()).To(BeEmpty())
		Expect(r.line("User", "passthrough RBD").Message).To(ContainSubstring("not needed"))
		minting := r.line("User", "minting")
		Expect(minting.State).To(Equal("note"))
		Expect(minting.Message).To(ContainSubstring(`may not send "osd pool application set"`))
		Expect(minting.Fix).To(HaveLen(1))
		shell(ctx, minting.Fix[0])
		r = report(ctx, flags...)
		Expect(r.line("User", "minting").State).To(Equal("ok"), "after "+minting.Fix[0])
	})
}
