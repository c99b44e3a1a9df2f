package settings

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const masterLabel = "node-role.kubernetes.io/master"

// pods are of the controllers and of the nodes.
type pods struct{ controller, node corev1.PodSpec }

func podsOf(ctx context.Context, g Gomega, d driver.Driver) pods {
	GinkgoHelper()
	return pods{env.Controller(ctx, g, d).Spec.Template.Spec, env.Node(ctx, g, d).Spec.Template.Spec}
}

func resourcesOf(g Gomega, pod corev1.PodSpec, container string) corev1.ResourceRequirements {
	GinkgoHelper()
	return fixture.Container(g, corev1.PodTemplateSpec{Spec: pod}, container).Resources
}

var _ = DescribeTable("Where pods run, and with what", func(ctx SpecContext, d driver.Driver) {
	before := podsOf(ctx, Default, d)
	memory := func(amount string) map[string]any { return map[string]any{"memory": amount} }
	good := map[string]any{
		"controller": map[string]any{
			"nodeSelector": map[string]any{corev1.LabelOSStable: "linux"}, "priorityClassName": "system-node-critical",
			"tolerations": []any{map[string]any{"key": masterLabel, "operator": "Exists"}},
		},
		"node": map[string]any{
			"nodeSelector": map[string]any{masterLabel: ""},
			"resources":    map[string]any{"csi-driver": map[string]any{"requests": memory("64Mi"), "limits": memory("1Gi")}},
		},
	}
	follows := func(g Gomega) {
		now := podsOf(ctx, g, d)
		g.Expect(now.controller.NodeSelector).To(Equal(map[string]string{corev1.LabelOSStable: "linux"}), "anywhere, and not on masters")
		g.Expect(now.controller.PriorityClassName).To(Equal("system-node-critical"))
		g.Expect(now.controller.Tolerations).To(Equal([]corev1.Toleration{{Key: masterLabel, Operator: corev1.TolerationOpExists}}))
		g.Expect(now.node.NodeSelector).To(Equal(map[string]string{corev1.LabelOSStable: "linux", masterLabel: ""}))
		g.Expect(now.node.Tolerations).To(Equal(before.node.Tolerations), "whatever the taints, still")
		g.Expect(resourcesOf(g, now.node, "csi-driver")).To(Equal(corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		}))
		g.Expect(resourcesOf(g, now.node, "csi-liveness-probe")).To(Equal(resourcesOf(g, before.node, "csi-liveness-probe")))
	}

	By("following what is set, and telling which nodes are left out")
	set(ctx, d, good)
	Eventually(func(g Gomega) {
		follows(g)
		told := env.Condition(ctx, g, d, condition.NodesServed)
		g.Expect(told.Status).To(Equal(operatorv1.ConditionTrue))
		g.Expect(told.Reason).To(Equal(condition.NodesLeftOut))
		g.Expect(told.Message).To(MatchRegexp(`^\d+ of \d+ nodes have no driver ` + d.Name + `, because ceph.node leaves them out: \S+ \((no label|label|taint) `))
		g.Expect(env.Node(ctx, g, d).Status.NumberAvailable).To(BeEquivalentTo(3), "the masters'")
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	env.Settle(ctx)

	By("going on with it beside a mistake")
	_, err := env.Configure(ctx, d, map[string]any{"node": map[string]any{
		"resources": map[string]any{"csi-driver": map[string]any{"requests": memory("2Gi"), "limits": memory("1Gi")}},
	}})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		told := env.Condition(ctx, g, d, condition.ResourcesDegraded)
		g.Expect(told.Status).To(Equal(operatorv1.ConditionTrue))
		g.Expect(told.Message).To(Equal("invalid settings of ClusterCSIDriver " + d.Name + `: spec.driverConfig.ceph.node.resources[csi-driver] is ` +
			`{"limits":{"memory":"1Gi"},"requests":{"memory":"2Gi"}}, must be resources whose requests are not above their limits; the settings that were valid last go on`))
		follows(g)
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())

	By("going back when it is removed")
	_, err = env.Configure(ctx, d, nil)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		g.Expect(podsOf(ctx, g, d)).To(Equal(before))
		g.Expect(env.Condition(ctx, g, d, condition.NodesServed)).To(BeZero())
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	env.Settle(ctx)
},
	Entry("of RBD", driver.RBD),
	Entry("of CephFS", driver.CephFS),
)
