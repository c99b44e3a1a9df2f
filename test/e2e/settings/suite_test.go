// Package settings changes spec.driverConfig, in good and in bad ways, and looks at what the
// operators tell of themselves. Each spec leaves the cluster as it found it.
package settings

import (
	"context"
	"encoding/json"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

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

// resources are the ClusterCSIDrivers; the typed client would drop the settings.
func resources() dynamic.ResourceInterface {
	return env.Dynamic.Resource(operatorv1.GroupVersion.WithResource("clustercsidrivers"))
}

// configure replaces spec.driverConfig; nil removes it.
func configure(ctx context.Context, d driver.Driver, member map[string]any, options ...string) (*unstructured.Unstructured, error) {
	var value any
	if member != nil {
		value = map[string]any{"driverType": driver.DriverType, "ceph": member}
	}
	operations := []map[string]any{{"op": "add", "path": "/spec/driverConfig", "value": value}}
	if member == nil {
		operations = append(operations, map[string]any{"op": "remove", "path": "/spec/driverConfig"})
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	return resources().Patch(ctx, d.Name, types.JSONPatchType, patch, metav1.PatchOptions{DryRun: options})
}

// set replaces spec.driverConfig, which must succeed, until the spec ends and the class is as it was.
func set(ctx context.Context, d driver.Driver, member map[string]any) {
	GinkgoHelper()
	before := class(ctx, Default, d).Parameters
	DeferCleanup(func(ctx SpecContext) {
		_, err := configure(ctx, d, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			g.Expect(class(ctx, g, d).Parameters).To(Equal(before))
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})
	_, err := configure(ctx, d, member)
	Expect(err).NotTo(HaveOccurred())
}

// member is spec.driverConfig.ceph as the API server has it.
func member(ctx context.Context, g Gomega, d driver.Driver) map[string]any {
	GinkgoHelper()
	cr, err := resources().Get(ctx, d.Name, metav1.GetOptions{})
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
