package beside

import (
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func moved() {
	It("is Progressing until another version has applied everything, and keeps the version of cluster-storage-operator", func(ctx SpecContext) {
		before, _ := storage(ctx, Default)
		folder := filepath.Join(GinkgoT().TempDir(), "release")
		Expect(repository.Release{Version: "4.23.0"}.Write(ctx, folder)).To(Succeed())
		begin := time.Now()
		env.Kubectl(ctx, "apply", "-f", folder)
		Eventually(func() []string {
			var said []string
			for _, v := range env.ClusterOperators() {
				if status, message := fixture.Status(fixture.ClusterOperatorOf(v), configv1.OperatorProgressing); v.At.After(begin) && status == "True" {
					said = append(said, message)
				}
			}
			return slices.Compact(said)
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(ContainElement(ContainSubstring(
			"Moving to 4.23.0, waiting for the operator and the pods of cephfs.csi.ceph.com and rbd.csi.ceph.com")))
		env.Settle(ctx)
		Eventually(func(g Gomega) { healthy(ctx, g) }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		now, _ := storage(ctx, Default)
		Expect(now.Status.Versions).To(Equal(before.Status.Versions))
	})
}
