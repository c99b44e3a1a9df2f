package node

import (
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
