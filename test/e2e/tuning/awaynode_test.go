package tuning

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

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
			g.Expect(fixture.Complaints(env.Conditions(ctx, g, d))).To(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})
})

var _ = Describe("A node whose kubelet does not know the driver", func() {
	d := driver.RBD

	It("is told of although its pod is ready, until the kubelet does", func(ctx SpecContext) {
		var before *storagev1.CSINode
		csiNodes := env.Kube.StorageV1().CSINodes()
		setDrivers := func(ctx SpecContext, drivers []storagev1.CSINodeDriver) {
			GinkgoHelper()
			Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
				held, err := csiNodes.Get(ctx, before.Name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				held.Spec.Drivers = drivers
				_, err = csiNodes.Update(ctx, held, metav1.UpdateOptions{})
				return err
			})).To(Succeed())
		}
		Eventually(func(g Gomega) {
			all, err := csiNodes.List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(all.Items).NotTo(BeEmpty())
			before = &all.Items[0]
			g.Expect(before.Spec.Drivers).To(ContainElement(HaveField("Name", d.Name)))
			g.Expect(env.Condition(ctx, g, d, condition.NodesServed)).To(BeZero())
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		recording := env.Record(ctx, d, "CephCSINodesNotServed")
		recording.Phase(ctx, `nodes{state="not_served"} 0`)
		setDrivers(ctx, nil)
		DeferCleanup(func(ctx SpecContext) {
			setDrivers(ctx, before.Spec.Drivers)
			recording.Phase(ctx, `nodes{state="not_served"} 0`)
			Eventually(func(g Gomega) { g.Expect(env.Condition(ctx, g, d, condition.NodesServed)).To(BeZero()) }).
				WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
			env.Settle(ctx)
		})
		Eventually(func(g Gomega) {
			said := env.Condition(ctx, g, d, condition.NodesServed)
			g.Expect(said.Reason).To(Equal(condition.NodesNotServed))
			g.Expect(said.Message).To(ContainSubstring("\n" + before.Name + ": the kubelet does not know the driver"))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		recording.Phase(ctx, `nodes{state="not_served"} 1`)
		Expect(fixture.Complaints(env.Conditions(ctx, Default, d))).To(BeEmpty())
	})
})
