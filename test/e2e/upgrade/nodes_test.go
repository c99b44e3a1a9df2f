package upgrade

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// lackNodes has a node that nobody answers for, and one that is cordoned, until what it returns is called.
func lackNodes(ctx context.Context) func(context.Context) {
	GinkgoHelper()
	const away = "away"
	all, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	cordoned := all.Items[len(all.Items)-1].Name
	_, err = env.Kube.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: away, Labels: map[string]string{corev1.LabelOSStable: "linux"}},
		Status:     corev1.NodeStatus{Capacity: all.Items[0].Status.Capacity, Allocatable: all.Items[0].Status.Allocatable},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	env.Kubectl(ctx, "cordon", cordoned)
	return func(ctx context.Context) {
		GinkgoHelper()
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, d, condition.NodesServed).Message).To(ContainSubstring("\n"+away+": the node is not ready"), "it was there")
			}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		}
		env.Kubectl(ctx, "uncordon", cordoned)
		env.Kubectl(ctx, "delete", "node", away)
		// Kubernetes' garbage collector of pods takes a minute for that.
		env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, "--field-selector=spec.nodeName="+away, "--force")
	}
}
