package node

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// others are what is there of similar names without us.
var others []string

// Installed is from nothing to both drivers, by the README's way for a kind of cluster.
func Installed(byReadme func(*fixture.Environment, context.Context)) {
	It("has both drivers Available after the README's commands, in pods that run as the manifests say", func(ctx SpecContext) {
		env.Kubectl(ctx, "apply", "-f", "test/e2e/node/snapshot-controller.yaml")
		others = env.LeftOvers(ctx, Default)
		begin := time.Now()
		byReadme(env, ctx)
		figure("both drivers Available", begin)
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).Should(Succeed())
		Expect(pods(ctx)).To(HaveLen(3+2*2+2*2), "three operators, two controllers and two nodes' pods of each driver")
	})
}

// pods are those of the operators and the drivers, all running.
func pods(ctx context.Context) []corev1.Pod {
	GinkgoHelper()
	var out []corev1.Pod
	Eventually(func(g Gomega) {
		all, err := env.Kube.CoreV1().Pods(driver.Namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		for _, p := range all.Items {
			g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), p.Name)
			g.Expect(p.DeletionTimestamp).To(BeNil(), p.Name)
		}
		out = all.Items
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	return out
}
