package connect

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func anotherCluster() {
	It("is refused while volumes are in the first one", func(ctx SpecContext) {
		dir := filepath.Join(env.Cluster.Dir(), "another")
		daemons := process.NewGroup(filepath.Join(env.Cluster.Dir(), "logs"), func(process.Record) error { return nil })
		DeferCleanup(daemons.Kill)
		another, err := cephdaemons.Start(ctx, cephdaemons.Options{Dir: dir, WithoutFilesystem: true, Daemons: daemons, Log: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())

		env.KeepSecret(fixture.KeysOf(another.Keyring())...)
		before := deployed(ctx)
		DeferCleanup(func(ctx SpecContext) {
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
		})
		env.Declare(ctx, map[string][]byte{"ceph.conf": []byte(another.Conf()), "keyring": []byte(another.Keyring())})
		for _, d := range driver.All {
			complains(ctx, d, "WrongCluster", another.FSID(), env.Cluster.Ceph().FSID(), "spec.driverConfig.ceph.cluster")
		}
		Expect(deployed(ctx)).To(Equal(before))
		pools, err := another.Command(ctx, "osd", "pool", "ls")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(pools)).NotTo(ContainSubstring("-rbd"), "nothing may be made there")
	})
}
