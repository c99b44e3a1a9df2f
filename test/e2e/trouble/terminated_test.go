package trouble

import (
	"net"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func terminated() {
	It("releases its lease and ends in time", func(ctx SpecContext) {
		for _, d := range driver.All {
			Expect(env.Operator(d).Stop(ctx)).To(Succeed())
			lease, err := env.Kube.CoordinationV1().Leases(namespace).Get(ctx, d.OperatorName()+"-lock", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(lease.Spec.HolderIdentity).To(HaveValue(BeEmpty()))
		}
		actsAfterRestart(ctx, "terminated")
		env.Settle(ctx)
	})

	It("ends by itself where it cannot serve, and says why", func(ctx SpecContext) {
		d := driver.RBD
		operator := env.Operator(d)
		Expect(operator.Stop(ctx)).To(Succeed())
		other, err := net.Listen("tcp", operator.Address())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			_ = other.Close()
			_ = operator.Restart()
		})
		Expect(operator.Restart()).To(Succeed())
		Eventually(operator.Done()).WithTimeout(fixture.Patience).Should(BeClosed())
		Expect(operator.Exited()).To(MatchError(And(
			ContainSubstring("exit status 1"), ContainSubstring("0.0.0.0:8443: bind: address already in use"))))
		Expect(other.Close()).To(Succeed())
		Expect(operator.Restart()).To(Succeed())
		env.Settle(ctx)
	})
}
