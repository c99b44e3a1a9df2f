package node

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Regrouped has an administrator name another subvolume group while volumes are there.
func Regrouped() {
	It("finds CephFS volumes although another subvolume group was asked for, and says why that has to wait", func(ctx SpecContext) {
		tune := func(group string) {
			patch := `{"spec":{"driverConfig":{"driverType":"Ceph","ceph":{"subvolumeGroup":` + group + `}}}}`
			env.Kubectl(ctx, "patch", "clustercsidriver", driver.CephFS.Name, "--type=merge", "-p", patch)
		}
		says := func(status operatorv1.ConditionStatus, text string) {
			Eventually(func(g Gomega) {
				c := env.Condition(ctx, g, driver.CephFS, condition.ResourcesDegraded)
				g.Expect(c.Status).To(Equal(status), c.Message)
				g.Expect(c.Message).To(ContainSubstring(text))
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
		}
		tune(`"other"`)
		says(operatorv1.ConditionTrue, `subvolumeGroup is "other", and volumes or snapshots are in subvolume group`)
		pod := hold(ctx, shared, nodes[0])
		do(ctx, pod, "verify", folder+"/"+nodes[0], mebibyte, nodes[0])
		end(ctx, pod)
		tune("null")
		says(operatorv1.ConditionFalse, "")
	})
}
