package node

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
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
		// README says to wait for this.
		Eventually(func(g Gomega) {
			pods := env.Pods(ctx, g, driver.CephFS.NodeName())
			g.Expect(pods).To(HaveLen(len(nodes)))
			g.Expect(pods).To(HaveEach(HaveField("Spec.HostPID", BeTrue())))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
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
		Eventually(func(g Gomega) {
			g.Expect(env.Node(ctx, g, driver.CephFS).Spec.UpdateStrategy.Type).To(Equal(appsv1.RollingUpdateDaemonSetStrategyType), "what is mounted in user space is gone")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
}
