package pools

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func legacy() {
	It("are kept from removal, and the volumes counted and never changed", func(ctx SpecContext) {
		mons := env.MonAddresses(ctx)
		newPool(ctx, "intree")
		newPool(ctx, "flex")
		made := []*corev1.PersistentVolume{
			newVolume(ctx, "intree-rbd", corev1.PersistentVolumeSource{RBD: &corev1.RBDPersistentVolumeSource{CephMonitors: mons, RBDPool: "intree", RBDImage: "i"}}),
			newVolume(ctx, "flex", corev1.PersistentVolumeSource{FlexVolume: &corev1.FlexPersistentVolumeSource{
				Driver: "ceph.rook.io/rook-ceph", Options: map[string]string{"pool": "flex", "image": "i"},
			}}),
			newVolume(ctx, "intree-cephfs", corev1.PersistentVolumeSource{CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: mons}}),
		}
		protected(ctx, "intree", rbdUser)
		protected(ctx, "flex", rbdUser)
		protected(ctx, cephdaemons.Filesystem+"-data", cephFSUser)
		says(ctx, driver.RBD, "LegacyVolumes", operatorv1.ConditionTrue, "OlderVolumes", "2 PersistentVolumes", `pool "intree"`, `pool "flex"`)
		says(ctx, driver.CephFS, "LegacyVolumes", operatorv1.ConditionTrue, "OlderVolumes", "1 of in-tree cephfs")
		env.Settle(ctx)
		Consistently(func(g Gomega) {
			for _, pv := range made {
				now, err := env.Kube.CoreV1().PersistentVolumes().Get(ctx, pv.Name, metav1.GetOptions{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(now.Spec).To(Equal(pv.Spec))
				g.Expect(now.Labels).To(BeEmpty())
			}
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
		for _, pv := range made {
			deleteVolume(ctx, pv.Name)
		}
		released(ctx, "intree")
		released(ctx, "flex")
		Eventually(func(g Gomega) {
			g.Expect(env.Condition(ctx, g, driver.RBD, "LegacyVolumes").Type).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed())
	})
}
