package node

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Permitted is what users other than root may do in volumes.
func Permitted() {
	It("lets a pod write by its fsGroup where ceph-fuse is mounted", func(ctx SpecContext) {
		c := claimed{name: "fuse", class: "fuse", mode: corev1.ReadWriteMany}
		newClass(ctx, driver.CephFS.StorageClass, c.class, func(class map[string]any) {
			class["parameters"].(map[string]any)["mounter"] = "fuse"
		})
		expectSeeing(ctx, driver.CephFS, true) // README says to wait for this.
		claim(ctx, c)
		root := hold(ctx, c, nodes[0])
		do(ctx, root, "write", file, mebibyte, "root")
		end(ctx, root)
		user := podWith(c, nodes[1], "hold")
		user.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000), RunAsGroup: ptr.To[int64](1000), FSGroup: ptr.To[int64](4711)}
		expectRunning(ctx, createPod(ctx, user))
		do(ctx, user.Name, "write", file, mebibyte, "group")
		do(ctx, user.Name, "verify", file, mebibyte, "group")
		end(ctx, user.Name)
		env.Kubectl(ctx, "delete", "persistentvolumeclaim", c.name, "-n", metav1.NamespaceDefault, "--timeout="+deleted.String())
		env.Kubectl(ctx, "delete", "storageclass", c.class)
		expectSeeing(ctx, driver.CephFS, false)
	})
}

// expectSeeing waits until all node pods of a driver see the node's processes, or none does, and nothing is replaced any more.
func expectSeeing(ctx context.Context, d driver.Driver, wanted bool) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pods := env.Pods(ctx, g, d.NodeName())
		g.Expect(pods).To(HaveLen(len(nodes)))
		g.Expect(pods).To(HaveEach(HaveField("Spec.HostPID", wanted)))
		daemonSet := env.Node(ctx, g, d)
		g.Expect(daemonSet.Status.ObservedGeneration).To(Equal(daemonSet.Generation))
		g.Expect(daemonSet.Status.UpdatedNumberScheduled).To(BeEquivalentTo(len(nodes)))
		g.Expect(daemonSet.Status.NumberAvailable).To(BeEquivalentTo(len(nodes)))
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
}
