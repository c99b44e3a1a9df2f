package pools

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// others are volumes and snapshots of other CSI drivers of Ceph in the same cluster.
func others() {
	It("are kept from removal, without rights for this operator's users", func(ctx SpecContext) {
		p := newPool(ctx, "rooks")
		held := func(g Gomega) {
			g.Expect(pool(ctx, g, "rooks").NoDelete).To(BeTrue())
			g.Expect(pool(ctx, g, "rooks").Metadata["rbd"]).To(HaveKeyWithValue(keyPrefix+"."+rbdUser, "in-use-by-others"))
		}
		rook := driver.RBD
		rook.Name = "rook-ceph." + driver.RBD.Name
		source := csi(rook, p.ID, map[string]string{"clusterID": "rook-ceph", "pool": "rooks"})
		fsid := env.Cluster.Ceph().FSID()
		source.CSI.VolumeHandle = strings.Replace(source.CSI.VolumeHandle, "0024-"+fsid, "0009-rook-ceph", 1)
		newVolume(ctx, "rooks", source)
		Eventually(held).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		newSnapshot(ctx, "rooks", rook, p.ID)
		deleteVolume(ctx, "rooks")
		Consistently(held).WithContext(ctx).WithTimeout(fixture.Undisturbed).WithPolling(fixture.CephPolling).Should(Succeed(), "a snapshot is left")
		Expect(env.Snapshots.SnapshotV1().VolumeSnapshotContents().Delete(ctx, "rooks", metav1.DeleteOptions{})).To(Succeed())
		released(ctx, "rooks")
	})
}

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
