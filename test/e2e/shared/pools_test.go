package shared

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cephtypes "github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// twoLooks covers what is seen only when Ceph is asked again, once a minute.
const twoLooks = 2 * fixture.Patience

const keyPrefix = "storage.openshift.io.nodelete"

func (c *openShift) newClass(ctx context.Context, pool string) {
	GinkgoHelper()
	_, err := c.Kube.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: pool}, Provisioner: driver.RBD.Name,
		Parameters: map[string]string{"clusterID": one.Cluster.Ceph().FSID(), "pool": pool},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func (c *openShift) deleteClass(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(c.Kube.StorageV1().StorageClasses().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
}

// marks are a pool's flag and, without our prefix, its keys; "" is the claim.
func marks(ctx context.Context, g Gomega, pool string) (flag bool, keys []string) {
	GinkgoHelper()
	out, err := one.Cluster.Ceph().Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	all, err := cephtypes.ParsePools(out)
	g.Expect(err).NotTo(HaveOccurred())
	i := slices.IndexFunc(all, func(p cephtypes.Pool) bool { return p.Name == pool })
	g.Expect(i).To(BeNumerically(">=", 0), pool)
	for _, pairs := range all[i].Metadata {
		for key := range pairs {
			if user, ours := strings.CutPrefix(key, keyPrefix); ours {
				keys = append(keys, strings.TrimPrefix(user, "."))
			}
		}
	}
	return all[i].NoDelete, keys
}

// has waits until a pool has the flag or not, and exactly these keys.
func has(ctx context.Context, pool string, flag bool, keys ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		gotFlag, got := marks(ctx, g, pool)
		g.Expect(got).To(ConsistOf(keys), pool)
		g.Expect(gotFlag).To(Equal(flag), pool)
	}).WithContext(ctx).WithTimeout(twoLooks).WithPolling(fixture.CephPolling).Should(Succeed())
}

func pools() {
	It("keep a pool that both use from removal, until the second one has gone", func(ctx SpecContext) {
		const claim = ""
		user := func(c *openShift) string { return c.infraID + ".rbd" }
		Expect(one.Cluster.Ceph().CreatePool(ctx, "both", "rbd")).To(Succeed())
		Expect(one.Cluster.Ceph().CreatePool(ctx, "admins", "rbd")).To(Succeed())
		ceph(ctx, "config", "set", "mon", "mon_allow_pool_delete", "true")
		ceph(ctx, "osd", "pool", "set", "admins", "nodelete", "true")
		for _, c := range both() {
			c.newClass(ctx, "admins")
			c.newClass(ctx, "both")
		}
		has(ctx, "both", true, claim, user(one), user(other))
		one.deleteClass(ctx, "both")
		has(ctx, "both", true, claim, user(other))
		_, err := one.Cluster.Ceph().Command(ctx, "osd", "pool", "rm", "both", "both", "--yes-i-really-really-mean-it")
		Expect(err).To(MatchError(ContainSubstring("nodelete")))
		other.deleteClass(ctx, "both")
		has(ctx, "both", false)

		By("never touching an administrator's own flag")
		has(ctx, "admins", true, user(one), user(other))
		for _, c := range both() {
			c.deleteClass(ctx, "admins")
			c.newClass(ctx, "both")
		}
		has(ctx, "both", true, claim, user(one), user(other))
		has(ctx, "admins", true)
		for _, c := range both() {
			c.deleteClass(ctx, "both")
		}
		has(ctx, "both", false)
		has(ctx, "admins", true)
	})

	It("have a pool of their own each, which the other one does not use", func(ctx SpecContext) {
		for _, c := range both() {
			has(ctx, c.infraID+"-rbd", true, "", c.infraID+".rbd")
		}
	})
}
