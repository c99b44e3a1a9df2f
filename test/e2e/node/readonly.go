package node

import (
	"context"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Shown has snapshots that are read and not copied.
func Shown() {
	It("shows a snapshot read-only on both nodes", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			// A filesystem that was in use when its snapshot was taken needs a device that can be written.
			seed := claimed{name: "seed-" + d.Kind, class: d.StorageClass}
			claim(ctx, seed)
			pod := hold(ctx, seed, nodes[0])
			do(ctx, pod, "write", file, mebibyte, seed.name)
			end(ctx, pod)
			expectDetached(ctx, seed.name)
			snapshot(ctx, seed.name, d.SnapshotClass)
			begin := time.Now()
			c := claimed{
				name: "shown-" + d.Kind, class: d.StorageClass, mode: corev1.ReadOnlyMany,
				source: &corev1.TypedLocalObjectReference{APIGroup: ptr.To(snapshotv1.GroupName), Kind: "VolumeSnapshot", Name: seed.name},
			}
			claim(ctx, c)
			var pods []string
			for _, on := range nodes {
				pods = append(pods, hold(ctx, c, on))
				figure(d.Kind+" snapshot shown on "+on, begin)
			}
			for _, pod := range pods {
				do(ctx, pod, "verify", file, mebibyte, seed.name)
				out, err := try(ctx, pod, "write", file, mebibyte, "other")
				Expect(err).To(HaveOccurred(), pod)
				Expect(out).To(ContainSubstring("read-only file system"), pod)
			}
			end(ctx, pods...)
		})
	})
}

// expectDetached waits until the node has unmounted the volume of a claim: it does so after the pod is gone.
func expectDetached(ctx context.Context, claim string) {
	GinkgoHelper()
	c, err := env.Kube.CoreV1().PersistentVolumeClaims(metav1.NamespaceDefault).Get(ctx, claim, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		attachments, err := env.Kube.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, a := range attachments.Items {
			g.Expect(a.Spec.Source.PersistentVolumeName).NotTo(HaveValue(Equal(c.Spec.VolumeName)), a.Name)
		}
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}
