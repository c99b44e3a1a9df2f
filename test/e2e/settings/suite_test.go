// Package settings changes spec.driverConfig, in good and in bad ways, and looks at what the
// operators tell of themselves. Each spec leaves the cluster as it found it.
package settings

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var env *fixture.Environment

func TestSettings(t *testing.T) { fixture.Run(t, "Settings, and what the operators tell") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	env.Deploy(ctx)
})

var _ = BeforeEach(func(ctx SpecContext) { env.Settle(ctx) })

// set replaces spec.driverConfig, which must succeed, until the spec ends and the class is as it was.
func set(ctx context.Context, d driver.Driver, member map[string]any) {
	GinkgoHelper()
	before := class(ctx, Default, d).Parameters
	DeferCleanup(func(ctx SpecContext) {
		_, err := env.Configure(ctx, d, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			g.Expect(class(ctx, g, d).Parameters).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})
	_, err := env.Configure(ctx, d, member)
	Expect(err).NotTo(HaveOccurred())
}

// member is spec.driverConfig.ceph as the API server has it.
func member(ctx context.Context, g Gomega, d driver.Driver) map[string]any {
	GinkgoHelper()
	cr, err := env.DriverResources().Get(ctx, d.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	out, _, err := unstructured.NestedMap(cr.Object, "spec", "driverConfig", "ceph")
	g.Expect(err).NotTo(HaveOccurred())
	return out
}

func class(ctx context.Context, g Gomega, d driver.Driver) *storagev1.StorageClass {
	GinkgoHelper()
	out, err := env.Kube.StorageV1().StorageClasses().Get(ctx, d.StorageClass, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	return out
}
