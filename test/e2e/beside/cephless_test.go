package beside

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const restarts = 3

func withoutCeph() {
	It("runs the operators that are wanted, Disabled, and deploys nothing", func(ctx SpecContext) {
		for _, d := range driver.All {
			env.CreateDriver(ctx, d)
		}
		Eventually(func(g Gomega) {
			expectDisabled(ctx, g)
			healthy(ctx, g)
			operator, conditions := storage(ctx, g)
			g.Expect(conditions["Available"][1]).To(And(
				ContainSubstring("CSI driver for CephRBD is disabled"), ContainSubstring("oc create secret generic "+driver.CredentialsSecret)))
			g.Expect(operator.Status.RelatedObjects).To(ConsistOf(related))
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	})

	It("writes nothing when all are started again, and again", func(ctx SpecContext) {
		Eventually(settled).WithTimeout(fixture.RolloutPatience).Should(BeEmpty())
		for range restarts {
			begin := time.Now()
			holders := map[string]string{}
			for _, name := range names {
				holders[name] = holder(ctx, Default, name)
				Expect(env.Kube.CoreV1().Pods(driver.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name=" + name})).To(Succeed())
			}
			for _, name := range names {
				Eventually(func(g Gomega) {
					g.Expect(holder(ctx, g, name)).NotTo(BeElementOf("", holders[name]), name)
				}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
			}
			Consistently(func(g Gomega) { expectDisabled(ctx, g) }).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
			for _, name := range names {
				Expect(requests(name, begin)).NotTo(BeEmpty())
				Expect(fixture.Lines(changes(requests(name, begin)))).To(BeEmpty(), name)
			}
		}
		Eventually(func(g Gomega) { healthy(ctx, g) }).WithContext(ctx).Should(Succeed())
	})
}

// settled are the changes of all processes in the last moments: there are none once all has been
// said and done.
func settled() []string {
	GinkgoHelper()
	var out []string
	for _, name := range names {
		out = append(out, fixture.Lines(changes(requests(name, time.Now().Add(-fixture.Undisturbed))))...)
	}
	return out
}

// holder is who has the lease of a process.
func holder(ctx context.Context, g Gomega, name string) string {
	GinkgoHelper()
	lease, err := env.Kube.CoordinationV1().Leases(driver.Namespace).Get(ctx, name+"-lock", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// expectDisabled: both drivers say so, and there are neither workloads nor classes of theirs.
func expectDisabled(ctx context.Context, g Gomega) {
	GinkgoHelper()
	for _, d := range driver.All {
		c := env.Condition(ctx, g, d, "Disabled")
		g.Expect(c.Status).To(Equal(operatorv1.ConditionTrue), d.Name)
		g.Expect(c.Reason).To(Equal("NoCephCluster"))
	}
	deployments, err := env.Kube.AppsV1().Deployments(driver.Namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	daemonSets, err := env.Kube.AppsV1().DaemonSets(driver.Namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	classes, err := env.Kube.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(deployments.Items).To(HaveLen(len(names)))
	g.Expect(daemonSets.Items).To(BeEmpty())
	g.Expect(classes.Items).To(BeEmpty())
}
