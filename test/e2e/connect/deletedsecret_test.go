package connect

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func deletedSecret() {
	It("leaves everything running, after a restart of the operator too", func(ctx SpecContext) {
		before := deployed(ctx)
		DeferCleanup(func(ctx SpecContext) {
			env.Declare(ctx, env.Credentials())
			env.Settle(ctx)
			Expect(deployed(ctx)).To(Equal(before))
		})
		Expect(env.Kube.CoreV1().Secrets(namespace).Delete(ctx, driver.CredentialsSecret, metav1.DeleteOptions{})).To(Succeed())
		for _, d := range driver.All {
			complains(ctx, d, "CredentialsMissing", "oc -n openshift-cluster-csi-drivers create secret generic ceph-credentials")
		}
		Expect(deployed(ctx)).To(Equal(before))

		restartAll(ctx, "CredentialsMissing")
		for _, d := range driver.All {
			Expect(env.Condition(ctx, Default, d, "Disabled").Type).To(BeEmpty())
		}
		Expect(deployed(ctx)).To(Equal(before))
	})
}

// restartAll kills the operators, and waits until new ones act and complain for the same reason.
func restartAll(ctx SpecContext, reason string) {
	GinkgoHelper()
	restarted := time.Now()
	for _, d := range driver.All {
		env.Operator(d).Kill()
		Expect(env.Operator(d).Restart()).To(Succeed())
	}
	for _, d := range driver.All {
		acts(ctx, d, restarted)
		complains(ctx, d, reason)
	}
}

// acts waits until an operator has read its ClusterCSIDriver since a moment.
func acts(ctx SpecContext, d driver.Driver, since time.Time) {
	GinkgoHelper()
	Eventually(func() int { return len(env.Requests(d, since)) }).WithContext(ctx).Should(BeNumerically(">", 10))
}
