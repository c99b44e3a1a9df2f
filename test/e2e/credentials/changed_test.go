package credentials

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// aMinute is how often Ceph is asked, and what follows.
const aMinute = time.Minute + fixture.Patience

func changed() {
	It("wider, narrower or gone, they are put right within a minute", func(ctx SpecContext) {
		deleted := driver.CephFS.NodeUser(infraID)
		before := cephUser(ctx, Default, deleted).Key
		ceph(ctx, "auth", "caps", "client."+driver.RBD.NodeUser(infraID), "mon", "allow *", "osd", "allow *")
		ceph(ctx, "auth", "caps", "client."+driver.RBD.ProvisionerUser(infraID), "mon", "allow r")
		ceph(ctx, "auth", "rm", "client."+deleted)
		Eventually(asMinted).WithContext(ctx).WithTimeout(aMinute).WithPolling(time.Second).Should(Succeed())
		Expect(cephUser(ctx, Default, deleted).Key == before).To(BeFalse(), "a user made anew has a new key")
		out, err := as(ctx, driver.CephFS.NodeSecret(), "ceph", "fs", "ls")
		Expect(err).NotTo(HaveOccurred(), out)
	})

	It("in a Secret only, they are put right at once", func(ctx SpecContext) {
		patch := []byte(`{"data":{"userID":"bm9ib2R5","userKey":"d3JpdHRlbi1ieS1oYW5kLWZvci1ub2JvZHk=","adminID":"YWRtaW4="}}`)
		_, err := env.Kube.CoreV1().Secrets(namespace).Patch(ctx, driver.RBD.ProvisionerSecret(), types.MergePatchType, patch, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			asMinted(g, ctx)
			secret, err := env.Kube.CoreV1().Secrets(namespace).Get(ctx, driver.RBD.ProvisionerSecret(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(secret.Data).To(HaveLen(2))
		}).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(fixture.Soon).Should(Succeed())
	})
}
