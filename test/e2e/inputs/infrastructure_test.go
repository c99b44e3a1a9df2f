package inputs

import (
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// rename has the cluster say another infra ID, and returns the one before.
func rename(ctx context.Context, name string) string {
	GinkgoHelper()
	infrastructures := env.Configs.Infrastructures()
	current, err := infrastructures.Get(ctx, "cluster", metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	before := current.Status.InfrastructureName
	current.Status.InfrastructureName = name
	_, err = infrastructures.UpdateStatus(ctx, current, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return before
}

var _ = Describe("The cluster's infra ID", func() {
	It("whatever becomes of it, stays what Ceph has of it", func(ctx SpecContext) {
		before := map[string]map[string]any{}
		for _, d := range driver.All {
			before[d.Name] = standing(ctx, Default, d)
		}
		for _, name := range []string{"", "other", " ", "a b", "*", "日本語", "$(reboot)", "a\nb", strings.Repeat("x", 500)} {
			By(strconv.Quote(name))
			right := rename(ctx, name)
			for _, d := range driver.All {
				said := told(ctx, d, condition.InfraIDCurrent, operatorv1.ConditionFalse, strconv.Quote(name), right)
				Expect(said.Reason).To(Equal(condition.InfraIDChanged))
				Expect(standing(ctx, Default, d)).To(Equal(before[d.Name]))
			}
			rename(ctx, right)
			for _, d := range driver.All {
				silent(ctx, d, condition.InfraIDCurrent)
			}
		}
		env.Settle(ctx)
		for _, d := range driver.All {
			Expect(standing(ctx, Default, d)).To(Equal(before[d.Name]))
		}
	})
})
