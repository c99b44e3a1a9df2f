package beside

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func uninstalled() {
	It("leaves to cluster-storage-operator what was its own, and the pools of Rook's Ceph cluster unprotected", func(ctx SpecContext) {
		Eventually(protected).WithContext(ctx).WithPolling(fixture.CephPolling).Should(BeTrue())
		before, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		// Uninstalling is an administrator's doing, which no management state forbids.
		before.Spec.ManagementState = operatorv1.Unmanaged
		before, err = storages.Update(ctx, before, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		// The processes end after their pods.
		env.Lawless(time.Now(), time.Time{})
		out, err := env.Command(ctx, "uninstall", "--yes")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Released the pools of the Ceph cluster of Rook in namespace " + rook))
		Eventually(func(g Gomega) { g.Expect(protected(ctx)).To(BeFalse()) }).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())

		after, err := storages.Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(after.Spec).To(Equal(before.Spec))
		for _, c := range after.Status.Conditions {
			Expect(c.Type).NotTo(HavePrefix("Ceph"))
		}
		for _, m := range after.ManagedFields {
			Expect(m.Manager).NotTo(HavePrefix(clusterstorage.FieldManager))
		}
		Eventually(func(g Gomega) {
			operator, conditions := storage(ctx, g)
			g.Expect(operator.Status.RelatedObjects).To(ConsistOf(related))
			for kind, c := range conditions {
				g.Expect(c[1]).NotTo(ContainSubstring("Ceph"), string(kind))
			}
		}).WithContext(ctx).Should(Succeed())
		_, err = env.Kube.CoreV1().Secrets(rook).Get(ctx, "rook-ceph-mon", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = env.Drivers.Get(ctx, driver.RBD.Name, metav1.GetOptions{})
		Expect(err).To(Satisfy(notFound))
	})
}

// protected says whether Ceph keeps any pool from removal.
func protected(ctx SpecContext) bool {
	GinkgoHelper()
	out, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	Expect(err).NotTo(HaveOccurred())
	return strings.Contains(string(out), "nodelete")
}
