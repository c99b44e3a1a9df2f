package tuning

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("A node that nobody answers for", func() {
	d := driver.RBD

	It("is told of by its name, and holds up no change", func(ctx SpecContext) {
		const name = "away"
		_, err := env.Kube.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{corev1.LabelOSStable: "linux"},
		}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.Kube.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})).To(Succeed())
			Eventually(func(g Gomega) { g.Expect(env.Condition(ctx, g, d, condition.NodesServed)).To(BeZero()) }).
				WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
			env.Settle(ctx)
		})
		Eventually(func(g Gomega) {
			said := env.Condition(ctx, g, d, condition.NodesServed)
			g.Expect(said.Status).To(Equal(operatorv1.ConditionFalse))
			g.Expect(said.Reason).To(Equal(condition.NodesNotReady))
			g.Expect(said.Message).To(HaveSuffix("\n" + name + ": the node is not ready"))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())

		DeferCleanup(env.Tune, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.LogLevel = operatorv1.Normal })
		env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.LogLevel = operatorv1.Debug })
		Eventually(func(g Gomega) {
			daemonSet := env.Node(ctx, g, d)
			g.Expect(fixture.Container(g, daemonSet.Spec.Template, "csi-driver").Args).To(ContainElement("--v=4"))
			g.Expect(daemonSet.Status.ObservedGeneration).To(Equal(daemonSet.Generation))
			g.Expect(daemonSet.Status.NumberUnavailable).To(BeEquivalentTo(1), "that of the node")
			g.Expect(env.Condition(ctx, g, d, progressing(d)).Status).To(Equal(operatorv1.ConditionFalse))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty())
	})
})
