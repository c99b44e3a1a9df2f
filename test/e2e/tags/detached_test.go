package tags

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// detached does what ceph-csi 3.16 and later do when they detach a subvolume.
func detached(k kind) {
	It("have the cluster's tag again soon after they were detached", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-detached", k.uuid(11, 1)
		k.makeAll(ctx, uuid)
		k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimDelete)
		k.has(ctx, uuid, own(name))
		attachments := env.Kube.StorageV1().VolumeAttachments()
		_, err := attachments.Create(ctx, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: k.driver.Name, NodeName: "somewhere", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(removeSubvolumeTag(ctx, uuid, ceph.TagCluster)).To(Succeed())
		Expect(attachments.Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
		k.has(ctx, uuid, own(name))
	})

	It("of another cluster are still that cluster's when they were detached here", func(ctx SpecContext) {
		name, uuid := k.driver.Kind+"-detached-foreign", k.uuid(12, 1)
		k.makeAll(ctx, uuid)
		Expect(k.set(ctx, uuid, ceph.TagOwner, "another-b4xk9")).To(Succeed())
		k.volume(ctx, name, uuid, corev1.PersistentVolumeReclaimDelete)
		says(ctx, k.driver, operatorv1.ConditionFalse, "ForeignTag", name, `"another-b4xk9"`)
		k.has(ctx, uuid, map[string]string{ceph.TagOwner: "another-b4xk9"})
		remove(ctx, name)
		says(ctx, k.driver, operatorv1.ConditionTrue, "AsExpected")
	})
}

func removeSubvolumeTag(ctx context.Context, uuid, key string) error {
	at := subvolumeOf(uuid)
	_, err := env.Cluster.Ceph().Command(ctx, "fs", "subvolume", "metadata", "rm", cephdaemons.Filesystem, at.Name, key, "--group_name", at.Group)
	return err
}
