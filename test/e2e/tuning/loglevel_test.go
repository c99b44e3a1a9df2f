package tuning

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("spec.logLevel", func() {
	set := func(ctx context.Context, level operatorv1.LogLevel) {
		for _, d := range driver.All {
			env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.LogLevel = level })
		}
	}

	It("reaches the driver in both kinds of pods", func(ctx SpecContext) {
		DeferCleanup(set, operatorv1.Normal)
		verbosity := map[operatorv1.LogLevel]string{operatorv1.TraceAll: "--v=7", operatorv1.Debug: "--v=4", operatorv1.Normal: "--v=2"}
		for _, level := range []operatorv1.LogLevel{operatorv1.TraceAll, operatorv1.Debug, operatorv1.Normal} {
			set(ctx, level)
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					controller, node := env.Controller(ctx, g, d), env.Node(ctx, g, d)
					g.Expect(fixture.Container(g, controller.Spec.Template, "csi-driver").Args).To(ContainElement(verbosity[level]))
					g.Expect(fixture.Container(g, node.Spec.Template, "csi-driver").Args).To(ContainElement(verbosity[level]))
				}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
			}
		}
	})
})
