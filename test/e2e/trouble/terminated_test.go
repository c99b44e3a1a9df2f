package trouble

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
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
}
