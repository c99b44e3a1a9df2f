package pools

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// filesystemID is what volume handles have.
func filesystemID(ctx SpecContext, name string) int64 {
	GinkgoHelper()
	all, err := cephtypes.ParseFileSystems(ceph(ctx, "fs", "dump", "--format", "json"))
	Expect(err).NotTo(HaveOccurred())
	for _, f := range all {
		if f.Name == name {
			return f.ID
		}
	}
	Fail("no filesystem " + name)
	return 0
}

func filesystems() {
	It("cannot be removed while the filesystem is in use", func(ctx SpecContext) {
		for _, name := range []string{cephdaemons.Filesystem + "-metadata", cephdaemons.Filesystem + "-data"} {
			protected(ctx, name, cephFSUser)
		}
	})

	It("stay when the filesystem is removed all the same, which a condition tells within seconds", func(ctx SpecContext) {
		ceph(ctx, "fs", "flag", "set", "enable_multiple", "true")
		Expect(env.Cluster.Ceph().CreateFilesystem(ctx, "second")).To(Succeed())
		attributes := map[string]string{"clusterID": env.Cluster.Ceph().FSID(), "fsName": "second"}
		newVolume(ctx, "second", csi(driver.CephFS, filesystemID(ctx, "second"), attributes))
		protected(ctx, "second-data", cephFSUser)
		protected(ctx, "second-metadata", cephFSUser)
		ceph(ctx, "fs", "fail", "second")
		ceph(ctx, "fs", "rm", "second", "--yes-i-really-mean-it")
		begin := time.Now()
		says(ctx, driver.CephFS, "VolumesSafe", operatorv1.ConditionFalse, "PlaceMissing", `"second"`, "1 volume of this cluster")
		AddReportEntry("told " + time.Since(begin).String() + " after the removal")
		protected(ctx, "second-data", cephFSUser)
		env.Settle(ctx)
		deleteVolume(ctx, "second")
		released(ctx, "second-data")
		released(ctx, "second-metadata")
		says(ctx, driver.CephFS, "VolumesSafe", operatorv1.ConditionTrue, "AsExpected")
	})
}
