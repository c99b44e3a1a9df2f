package connect

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func quorum() {
	It("is reported and changes nothing; with the quorum back all is well", func(ctx SpecContext) {
		ceph := env.Cluster.Ceph()
		recording := env.Record(ctx, driver.RBD, "CephCSIClusterUnreachable")
		recording.Phase(ctx, `reachable{fsid="`+ceph.FSID()+`"} 1`)
		before := deployed(ctx)
		mons := ceph.Mons()
		lost := mons[:(len(mons)+1)/2]
		for _, name := range lost {
			ceph.KillMon(name)
		}
		for _, d := range driver.All {
			complains(ctx, d, "CephUnreachable", "a majority of its mons")
		}
		recording.Phase(ctx, `reachable{fsid="`+ceph.FSID()+`"} 0`)
		Expect(deployed(ctx)).To(Equal(before))

		for _, name := range lost {
			Expect(ceph.StartMon(ctx, name)).To(Succeed())
		}
		env.Settle(ctx)
		recording.Phase(ctx, `reachable{fsid="`+ceph.FSID()+`"} 1`)
		Expect(deployed(ctx)).To(Equal(before))
	})
}
