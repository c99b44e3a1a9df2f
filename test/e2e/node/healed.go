package node

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Healed is what a node pod may read to map volumes again that ended with the one before it.
func Healed() {
	It("lets a new node pod read the Secret of an attached volume of rbd-nbd", func(ctx SpecContext) {
		d := driver.RBD
		c := claimed{name: "nbd", class: "nbd"}
		newClass(ctx, d.StorageClass, c.class, func(class map[string]any) {
			class["parameters"].(map[string]any)["mounter"] = "rbd-nbd"
		})
		expectSeeing(ctx, d, true)
		claim(ctx, c)
		expectBound(ctx, c.name)
		volume := volumeOf(ctx, c.name)
		attach(ctx, d, c.name, volume.Name, nodes[0])
		env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, podOn(ctx, d, nodes[0]).Name)
		expectSeeing(ctx, d, true)
		pod := podOn(ctx, d, nodes[0])
		Eventually(func(g Gomega) {
			log := env.TryKubectl(ctx, g, "logs", "-n", driver.Namespace, "-c", "csi-driver", pod.Name)
			g.Expect(log).To(ContainSubstring("sending nodeStageVolume for volID: " + volume.Spec.CSI.VolumeHandle))
			g.Expect(log).NotTo(ContainSubstring("failed to get Secret"))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		env.Kubectl(ctx, "delete", "volumeattachment", c.name, "--timeout="+deleted.String())
		env.Kubectl(ctx, "delete", "persistentvolumeclaim", c.name, "-n", metav1.NamespaceDefault, "--timeout="+deleted.String())
		env.Kubectl(ctx, "delete", "storageclass", c.class)
		expectSeeing(ctx, d, false)
	})
}

// attach has a volume attached that no pod uses: what the stand-in mounts for rbd-nbd ends with its pod.
func attach(ctx context.Context, d driver.Driver, name, volume, node string) {
	GinkgoHelper()
	attachments := env.Kube.StorageV1().VolumeAttachments()
	_, err := attachments.Create(ctx, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: d.Name, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		is, err := attachments.Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(is.Status.Attached).To(BeTrue())
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}
