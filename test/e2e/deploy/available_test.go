package deploy

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// reports are the versions of a ClusterCSIDriver, in their order.
func reports(d driver.Driver) []fixture.Version {
	return env.History.Of(func(v fixture.Version) bool {
		return v.Object.GetKind() == "ClusterCSIDriver" && v.Object.GetName() == d.Name
	})
}

func conditionsOf(v fixture.Version) []operatorv1.OperatorCondition {
	GinkgoHelper()
	var typed operatorv1.ClusterCSIDriver
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(v.Object.Object, &typed)).To(Succeed())
	return typed.Status.Conditions
}

var _ = Describe("A started operator", func() {
	for _, d := range driver.All {
		It("has the driver available within seconds: "+d.Name, func() {
			for _, report := range reports(d) {
				if len(fixture.Complaints(conditionsOf(report))) > 0 {
					continue
				}
				after := report.At.Sub(started)
				AddReportEntry(fmt.Sprintf("%s available after %.2f s, both drivers starting at once", d.Name, after.Seconds()))
				Expect(after).To(BeNumerically("<", fixture.Patience))
				return
			}
			Fail("the driver was never available and without complaints")
		})

		It("never reports Degraded on the way: "+d.Name, func() {
			for _, report := range reports(d) {
				for _, c := range conditionsOf(report) {
					if strings.HasSuffix(c.Type, operatorv1.OperatorStatusTypeDegraded) {
						Expect(c.Status).To(Equal(operatorv1.ConditionFalse), "%s %s: %s (revision %d)", c.Type, c.Reason, c.Message, report.Revision())
					}
				}
			}
		})

		It("has few conditions while all is well: "+d.Name, func(ctx SpecContext) {
			var all, ours []string
			Eventually(func(g Gomega) {
				all, ours = nil, nil
				for _, c := range env.Conditions(ctx, g, d) {
					all = append(all, c.Type)
					if slices.Contains(condition.Types(), c.Type) {
						ours = append(ours, c.Type)
					}
				}
				g.Expect(ours).To(ConsistOf(condition.ConnectionDegraded, condition.ResourcesDegraded, condition.StorageClassesUsable, condition.VolumesSafe))
			}).WithContext(ctx).Should(Succeed())
			Expect(len(all)).To(BeNumerically("<=", 15), strings.Join(all, ", "))
			AddReportEntry(fmt.Sprintf("%s: %d conditions, %d versions of the ClusterCSIDriver", d.Name, len(all), len(reports(d))))
		})

		It("is never called disabled once a Ceph cluster is declared: "+d.Name, func() {
			for _, report := range reports(d) {
				for _, c := range conditionsOf(report) {
					if c.Type == "Disabled" {
						Expect(c.Reason).To(Equal("WaitingForCeph"), c.Message)
					}
				}
			}
		})
	}
})
