// Package inputs gives the operators what people, tools and failing disks may give them, good and bad:
// each bad one gets its sentence, and nothing that ran before changes; after it, the good one is enough.
package inputs

import (
	"context"
	"strconv"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

var env *fixture.Environment

func TestInputs(t *testing.T) { fixture.Run(t, "Good inputs and bad ones") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Masters: 2, Workers: 1})
	env.Deploy(ctx)
	env.Rest(ctx)
	AddReportEntry("SEED=" + strconv.FormatUint(sample.Seed(), 10))
})

// some are a sample, or when soaking all.
func some[T any](all []T, sampled int) []T {
	return sample.Of(all, sampled, sample.Random(len(all)))
}

// standing is what a bad input must leave as it is.
func standing(ctx context.Context, g Gomega, d driver.Driver) map[string]any {
	GinkgoHelper()
	class, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	out := map[string]any{
		"class": class.UID, "parameters": class.Parameters,
		"controller": env.Controller(ctx, g, d).Generation, "node": env.Node(ctx, g, d).Generation,
	}
	for _, name := range []string{d.ConfigSecret(), d.NodeSecret(), d.ProvisionerSecret()} {
		secret, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		out[name] = secret.Data
	}
	return out
}

// told waits until a condition has a status and says all of that.
func told(ctx context.Context, d driver.Driver, conditionType string, status operatorv1.ConditionStatus, says ...string) operatorv1.OperatorCondition {
	GinkgoHelper()
	var out operatorv1.OperatorCondition
	Eventually(func(g Gomega) {
		out = env.Condition(ctx, g, d, conditionType)
		g.Expect(out.Status).To(Equal(status), out.Message)
		for _, text := range says {
			g.Expect(out.Message).To(ContainSubstring(text))
		}
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	return out
}

// silent waits until there is no condition of that type.
func silent(ctx context.Context, d driver.Driver, conditionType string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(env.Condition(ctx, g, d, conditionType)).To(BeZero())
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}
