package settings

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// No schema can know what a Ceph cluster has.
var _ = DescribeTable("A setting that Ceph cannot follow is told, and what ran goes on",
	func(ctx SpecContext, d driver.Driver, fields map[string]any, conditionType, reason string, says []string) {
		env.Rest(ctx) // from the settings of the spec before
		before := untouched(ctx, Default, d)
		set(ctx, d, fields)
		Eventually(func(g Gomega) {
			told := env.Condition(ctx, g, d, conditionType)
			g.Expect(told.Status).To(Equal(operatorv1.ConditionTrue))
			g.Expect(told.Reason).To(Equal(reason))
			for _, text := range says {
				g.Expect(told.Message).To(ContainSubstring(text))
			}
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		Consistently(func(g Gomega) {
			g.Expect(untouched(ctx, g, d)).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
	},
	Entry("pool", driver.RBD, map[string]any{"pool": "nosuch"}, condition.ResourcesDegraded, condition.NoPool,
		[]string{`pool "nosuch"`, "spec.driverConfig.ceph.pool", "pools of application rbd: "}),
	Entry("data pool", driver.RBD, map[string]any{"dataPool": "nosuch"}, condition.ResourcesDegraded, condition.NoPool,
		[]string{`data pool "nosuch"`, "spec.driverConfig.ceph.dataPool", "pools: "}),
	Entry("filesystem", driver.CephFS, map[string]any{"filesystem": "nosuch"}, condition.ResourcesDegraded, condition.NoFilesystem,
		[]string{`filesystem "nosuch"`, "spec.driverConfig.ceph.filesystem", "filesystems: "}),
	Entry("Ceph cluster", driver.RBD, map[string]any{"cluster": "00000000-0000-4000-8000-000000000000"}, condition.ConnectionDegraded, condition.WrongCluster,
		[]string{"00000000-0000-4000-8000-000000000000", "ceph.cluster"}),
)
