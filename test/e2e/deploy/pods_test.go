package deploy

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

func nodesOf(pods []corev1.Pod) sets.Set[string] {
	nodes := sets.New[string]()
	for _, p := range pods {
		nodes.Insert(p.Spec.NodeName)
	}
	return nodes
}

func nodeNames(ctx SpecContext, selector string) sets.Set[string] {
	GinkgoHelper()
	nodes, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
	Expect(err).NotTo(HaveOccurred())
	names := sets.New[string]()
	for _, n := range nodes.Items {
		names.Insert(n.Name)
	}
	return names
}

var _ = Describe("Pods", func() {
	for _, d := range driver.All {
		It("of the node plugin run on every node, masters too: "+d.Name, func(ctx SpecContext) {
			all := nodeNames(ctx, "")
			Expect(all).To(HaveLen(8))
			pods := env.Pods(ctx, Default, d.NodeName())
			Expect(pods).To(HaveLen(8))
			Expect(nodesOf(pods)).To(Equal(all))
		})

		It("of the controllers run twice, on two masters: "+d.Name, func(ctx SpecContext) {
			masters := nodeNames(ctx, "node-role.kubernetes.io/master")
			Expect(masters).To(HaveLen(3))
			pods := env.Pods(ctx, Default, d.ControllerName())
			Expect(pods).To(HaveLen(2))
			Expect(nodesOf(pods)).To(HaveLen(2))
			Expect(masters.IsSuperset(nodesOf(pods))).To(BeTrue(), "%v", nodesOf(pods))
		})

		It("have the images of the operator's environment and ask for CPU and memory: "+d.Name, func(ctx SpecContext) {
			known := sets.New[string]()
			variables, err := operatorprocess.Environment(d)
			Expect(err).NotTo(HaveOccurred())
			for name, image := range variables {
				if strings.HasSuffix(name, "_IMAGE") {
					known.Insert(image)
				}
			}
			controller, node := env.Controller(ctx, Default, d), env.Node(ctx, Default, d)
			for _, c := range append(controller.Spec.Template.Spec.Containers, node.Spec.Template.Spec.Containers...) {
				Expect(known.Has(c.Image)).To(BeTrue(), "%s: %s", c.Name, c.Image)
				Expect(c.Resources.Requests).To(And(HaveKey(corev1.ResourceCPU), HaveKey(corev1.ResourceMemory)), c.Name)
			}
		})
	}
})
