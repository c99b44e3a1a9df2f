package node

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Succeeded rolls a version out that does not start.
func Succeeded() {
	const name = "ceph-cluster-storage"
	It("has "+name+" at work on while its successor ends at once", func(ctx SpecContext) {
		before := operatorPods(ctx, Default, name)
		Expect(before).To(HaveLen(1))
		env.Kubectl(ctx, "patch", "deployment", "-n", driver.Namespace, name, "--type=json",
			`--patch=[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":"--unknown-flag"}]`)
		DeferCleanup(func(ctx SpecContext) {
			env.Kubectl(ctx, "rollout", "undo", "-n", driver.Namespace, "deployment/"+name)
			env.Kubectl(ctx, "rollout", "status", "-n", driver.Namespace, "deployment/"+name, "--timeout=2m")
		})
		Eventually(func(g Gomega) {
			restarts := 0
			for _, pod := range operatorPods(ctx, g, name) {
				if pod.Name != before[0].Name && len(pod.Status.ContainerStatuses) > 0 {
					restarts += int(pod.Status.ContainerStatuses[0].RestartCount)
				}
			}
			g.Expect(restarts).To(BeNumerically(">=", 2))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		Expect(operatorPods(ctx, Default, name)).To(ContainElement(And(
			HaveField("Name", before[0].Name), HaveField("DeletionTimestamp", BeNil()),
			HaveField("Status.ContainerStatuses", ConsistOf(And(HaveField("Ready", true), HaveField("RestartCount", before[0].Status.ContainerStatuses[0].RestartCount)))),
		)))
	})
}

// operatorPods are those of an operator, by the name of its Deployment.
func operatorPods(ctx context.Context, g Gomega, name string) []corev1.Pod {
	GinkgoHelper()
	pods, err := env.Kube.CoreV1().Pods(driver.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "name=" + name})
	g.Expect(err).NotTo(HaveOccurred())
	return pods.Items
}
