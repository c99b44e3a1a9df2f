package tuning

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const masterLabel = "node-role.kubernetes.io/master"

var _ = Describe("The topology", func() {
	replicas := func(ctx SpecContext, wanted int32) {
		GinkgoHelper()
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				g.Expect(*env.Controller(ctx, g, d).Spec.Replicas).To(Equal(wanted))
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}
		env.Settle(ctx)
	}

	It("of a single node gives one replica", func(ctx SpecContext) {
		DeferCleanup(env.Cluster.SetTopology, configv1.HighlyAvailableTopologyMode)
		replicas(ctx, 2)
		Expect(env.Cluster.SetTopology(ctx, configv1.SingleReplicaTopologyMode)).To(Succeed())
		replicas(ctx, 1)
		Expect(env.Cluster.SetTopology(ctx, configv1.HighlyAvailableTopologyMode)).To(Succeed())
		replicas(ctx, 2)
	})

	It("without dedicated masters lets the controllers run anywhere", func(ctx SpecContext) {
		masters, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: masterLabel})
		Expect(err).NotTo(HaveOccurred())
		Expect(masters.Items).To(HaveLen(3))
		label := func(ctx SpecContext, value string) {
			GinkgoHelper()
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, masterLabel, value)
			for _, m := range masters.Items {
				_, err := env.Kube.CoreV1().Nodes().Patch(ctx, m.Name, types.MergePatchType, patch, metav1.PatchOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
		}
		selector := func(ctx SpecContext, matcher OmegaMatcher) {
			GinkgoHelper()
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					g.Expect(env.Controller(ctx, g, d).Spec.Template.Spec.NodeSelector).To(matcher)
				}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			}
			env.Settle(ctx)
		}
		DeferCleanup(label, `""`)
		selector(ctx, HaveKey(masterLabel))
		label(ctx, "null")
		selector(ctx, Not(HaveKey(masterLabel)))
		label(ctx, `""`)
		selector(ctx, HaveKey(masterLabel))
	})
})
