package check

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func brokenCeph() {
	It("finds a pool that is missing, and the commands make it", func(ctx SpecContext) {
		flags := append(admin(), "--pool=fast")
		r := report(ctx, flags...)
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(Equal([]string{"RBD/pool"}))
		for _, command := range r.line("RBD", "pool").Fix {
			shell(ctx, command)
		}
		Expect(report(ctx, flags...).line("RBD", "pool").Message).To(Equal("fast exists, for application rbd"))
	})

	It("needs a filesystem with an active MDS, unless CephFS is not wanted", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		command := func(arguments ...string) {
			_, err := ceph.Command(ctx, arguments...)
			Expect(err).NotTo(HaveOccurred())
		}
		command("fs", "fail", cephdaemons.Filesystem)
		r := report(ctx, admin()...)
		Expect(r.wrong()).To(Equal([]string{"CephFS/filesystem"}))
		Expect(r.line("CephFS", "filesystem").Message).To(ContainSubstring("no active MDS"))
		command("fs", "rm", cephdaemons.Filesystem, "--yes-i-really-mean-it")
		r = report(ctx, admin()...)
		Expect(r.wrong()).To(Equal([]string{"CephFS/filesystem"}))
		Expect(r.line("CephFS", "filesystem").Fix).To(ConsistOf("ceph fs volume create cephfs"))
		Expect(report(ctx, append(admin(), "--driver=rbd")...).code).To(Equal(0))
	})

	It("finds a dead mon among three", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		ceph.KillMon("b")
		Eventually(func(g Gomega) {
			r := report(ctx, append(admin(), "--driver=rbd")...)
			g.Expect(r.wrong()).To(ConsistOf("Mons/quorum", HavePrefix("Mons/mon b v1:"), HavePrefix("Mons/mon b v2:")))
			g.Expect(r.line("Mons", "quorum").Message).To(Equal("2 of 3 mons; out of it: b"))
			g.Expect(r.line("Ceph", "connection").State).To(Equal("ok"))
			g.Expect(r.code).To(Equal(1))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		Expect(ceph.StartMon(ctx, "b")).To(Succeed())
	})

	It("comes back from a Ceph that hangs", func(ctx SpecContext) {
		Expect(env.Cluster.Ceph().Pause()).To(Succeed())
		defer func() { Expect(env.Cluster.Ceph().Resume()).To(Succeed()) }()
		r := report(ctx, append(admin(), "--timeout=20s")...)
		AddReportEntry("took", r.took.String())
		Expect(r.code).To(Equal(1))
		Expect(r.wrong()).To(HaveLen(4), "three addresses of ceph.conf, and the connection")
		Expect(r.line("Ceph", "connection").Message).To(ContainSubstring("none of the addresses answers"))
		Expect(r.line("RBD", "volumes").State).To(Equal("unknown"))
	})
}

// shell runs a command that the check has printed, as the administrator of Ceph does.
func shell(ctx context.Context, command string) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := env.Cluster.Ceph().Shell(ctx, command).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

var serverLine = regexp.MustCompile(`(?m)(server:) .*$`)

// deadKubeconfig is a kubeconfig whose API server nobody runs.
func deadKubeconfig(original string) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := listener.Addr().String()
	Expect(listener.Close()).To(Succeed())
	file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	changed := serverLine.ReplaceAllString(read(original), "${1} https://"+address)
	Expect(os.WriteFile(file, []byte(changed), 0o600)).To(Succeed())
	return file
}
