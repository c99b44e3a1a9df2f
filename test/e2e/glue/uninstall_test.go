package glue

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func uninstalled() {
	It("refuses while volumes are attached or exist, and does nothing when it is not told yes", func(ctx SpecContext) {
		volume := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "kept"},
			Spec: corev1.PersistentVolumeSpec{
				Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
					Driver: driver.RBD.Name, VolumeHandle: "0001-0024-" + strings.Repeat("0", 36) + "-0000000000000001-" + strings.Repeat("0", 36),
				}},
			},
		}
		_, err := env.Kube.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		attachment := &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "attached"},
			Spec: storagev1.VolumeAttachmentSpec{
				Attacher: driver.RBD.Name, NodeName: "worker-0", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("kept")},
			},
		}
		_, err = env.Kube.StorageV1().VolumeAttachments().Create(ctx, attachment, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())

		expectRefused(ctx, "volumes are attached to nodes (kept to worker-0)", "--yes", "--force")
		Expect(env.Kube.StorageV1().VolumeAttachments().Delete(ctx, "attached", metav1.DeleteOptions{})).To(Succeed())
		expectRefused(ctx, "PersistentVolumes of the drivers exist (kept)", "--yes")
		expectRefused(ctx, "not confirmed", "--force")
		for _, d := range driver.All {
			_, err := env.Drivers.Get(ctx, d.Name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
	})

	It("leaves nothing behind, and the volumes, and what others have for virtual machines", func(ctx SpecContext) {
		others := virtualized(ctx)
		before := env.LeftOvers(ctx, Default)
		env.AwaitProtectedPools(ctx)
		// The processes end after their pods.
		env.Lawless(time.Now(), time.Time{})
		out, err := env.Command(ctx, "uninstall", "--yes", "--force")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(And(ContainSubstring("Removed."), ContainSubstring("oc delete secret "+driver.CredentialsSecret)))
		Eventually(func(g Gomega) {
			g.Expect(env.LeftOvers(ctx, g)).To(BeEmpty(), "of %d before", len(before))
			g.Expect(env.ProtectedPools(ctx, g)).To(BeEmpty())
		}).WithContext(ctx).WithPolling(fixture.CephPolling).Should(Succeed())
		Consistently(func(g Gomega) { g.Expect(env.LeftOvers(ctx, g)).To(BeEmpty()) }).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
		others.ExpectUntouched(ctx)
		_, err = env.Kube.CoreV1().PersistentVolumes().Get(ctx, "kept", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, driver.CredentialsSecret, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred(), "the Secret is the administrator's")
	})

	It("finds nothing to do when it is run again", func(ctx SpecContext) {
		out, err := env.Command(ctx, "uninstall", "--yes", "--force")
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Nothing of the operator is on this cluster."))
	})
}

func expectRefused(ctx SpecContext, why string, flags ...string) {
	GinkgoHelper()
	out, err := env.Command(ctx, append([]string{"uninstall"}, flags...)...)
	Expect(err).To(HaveOccurred(), out)
	Expect(out).To(ContainSubstring(why))
}
