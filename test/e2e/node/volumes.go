package node

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

var storageClasses = storagev1.SchemeGroupVersion.WithResource("storageclasses")

// Volumes that later specs go on with; each has a pod on the last of the nodes.
var (
	image  = claimed{name: "image", class: driver.RBD.StorageClass}
	block  = claimed{name: "block", class: driver.RBD.StorageClass, block: true}
	shared = claimed{name: "shared", class: driver.CephFS.StorageClass, mode: corev1.ReadWriteMany}
)

// Mounted has volumes in pods, on both nodes.
func Mounted() {
	It("mounts an RBD filesystem on each node, one after the other", func(ctx SpecContext) {
		moved(ctx, image, file)
	})

	It("hands an RBD block device to a pod on each node, one after the other", func(ctx SpecContext) {
		moved(ctx, block, device)
	})

	It("mounts CephFS on both nodes, which write and read what the other wrote", func(ctx SpecContext) {
		begin := time.Now()
		claim(ctx, shared)
		expectBound(ctx, shared.name)
		figure("CephFS bound", begin)
		var pods []string
		for _, on := range nodes {
			pods = append(pods, hold(ctx, shared, on))
			figure("CephFS mounted on "+on, begin)
		}
		for i, pod := range pods {
			do(ctx, pod, "write", folder+"/"+nodes[i], mebibyte, nodes[i])
		}
		for i, pod := range pods {
			other := nodes[1-i]
			do(ctx, pod, "verify", folder+"/"+other, mebibyte, other)
		}
		end(ctx, pods[0])
	})

	It("waits for the first consumer where the class says so", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			late := claimed{name: "late-" + d.Kind, class: "late-" + d.Kind}
			newClass(ctx, d.StorageClass, late.class, func(class map[string]any) {
				class["volumeBindingMode"] = string(storagev1.VolumeBindingWaitForFirstConsumer)
			})
			begin := time.Now()
			claim(ctx, late)
			pod := hold(ctx, late, nodes[1])
			figure(d.Kind+" of a WaitForFirstConsumer class mounted", begin)
			do(ctx, pod, "write", file, mebibyte, late.name)
			end(ctx, pod)
		})
	})
}

// moved is a volume that a pod writes on one node, and another reads on the other, which stays.
func moved(ctx context.Context, c claimed, path string) {
	GinkgoHelper()
	begin := time.Now()
	claim(ctx, c)
	expectBound(ctx, c.name)
	figure(c.name+" bound", begin)
	pod := hold(ctx, c, nodes[0])
	figure(c.name+" mounted", begin)
	do(ctx, pod, "write", path, mebibyte, c.name)
	end(ctx, pod)
	pod = hold(ctx, c, nodes[1])
	do(ctx, pod, "verify", path, mebibyte, c.name)
}
