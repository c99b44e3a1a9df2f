package connect

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// twoLooks covers what is seen only when Ceph is asked again, once a minute.
const twoLooks = 2 * fixture.Patience

// cared checks that pools of another Ceph cluster than that of the default classes are looked after:
// one that a class names and that is missing is told of, one in use cannot be removed until the
// class has gone.
func cared(ctx SpecContext, other *cephdaemons.Ceph) {
	GinkgoHelper()
	Expect(other.CreatePool(ctx, "far", "rbd")).To(Succeed())
	classes := env.Kube.StorageV1().StorageClasses()
	for _, pool := range []string{"far", "missing"} {
		_, err := classes.Create(ctx, &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "second-" + pool}, Provisioner: driver.RBD.Name,
			Parameters: map[string]string{"clusterID": other.FSID(), "pool": pool},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}
	Eventually(func(g Gomega) {
		c := env.Condition(ctx, g, driver.RBD, "StorageClassesUsable")
		g.Expect(c.Status).To(Equal(operatorv1.ConditionFalse), c.Message)
		g.Expect(c.Message).To(Equal("StorageClass second-missing, Ceph cluster " + other.FSID() + `: pool "missing" does not exist; create it: ` +
			"ceph osd pool create missing && ceph osd pool application enable missing rbd"))
	}).WithContext(ctx).Should(Succeed())
	guarded := func(g Gomega) bool {
		out, err := other.Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
		g.Expect(err).NotTo(HaveOccurred())
		pools, err := ceph.ParsePools(out)
		g.Expect(err).NotTo(HaveOccurred())
		return slices.ContainsFunc(pools, func(p ceph.Pool) bool { return p.Name == "far" && p.NoDelete })
	}
	Eventually(guarded).WithContext(ctx).WithPolling(fixture.CephPolling).Should(BeTrue())
	env.WithdrawSoon(ctx)
	for _, pool := range []string{"far", "missing"} {
		Expect(classes.Delete(ctx, "second-"+pool, metav1.DeleteOptions{})).To(Succeed())
	}
	Eventually(guarded).WithContext(ctx).WithPolling(fixture.CephPolling).WithTimeout(twoLooks).Should(BeFalse())
	Eventually(func(g Gomega) {
		g.Expect(env.Condition(ctx, g, driver.RBD, "StorageClassesUsable").Status).To(Equal(operatorv1.ConditionTrue))
	}).WithContext(ctx).WithTimeout(twoLooks).Should(Succeed())
	for _, d := range driver.All {
		configure(ctx, d, nil)
	}
	env.Settle(ctx)
}
