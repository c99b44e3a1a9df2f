package settings

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// entry is the Ceph cluster in config.json, with all that it says.
func entry(ctx context.Context, g Gomega, d driver.Driver) map[string]any {
	GinkgoHelper()
	secret, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, d.ConfigSecret(), metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	var entries []map[string]any
	g.Expect(json.Unmarshal(secret.Data["config.json"], &entries)).To(Succeed())
	g.Expect(entries).To(HaveLen(1))
	return entries[0]
}

var _ = Describe("Read affinity", func() {
	for _, d := range driver.All {
		It("is in config.json while it is set, and no pod restarts: "+d.Name, func(ctx SpecContext) {
			before := untouched(ctx, Default, d)
			Expect(entry(ctx, Default, d)).NotTo(HaveKey("readAffinity"))
			set(ctx, d, map[string]any{"readAffinity": []any{"topology.kubernetes.io/zone", "example.com/rack"}})
			Eventually(func(g Gomega) {
				g.Expect(entry(ctx, g, d)).To(HaveKeyWithValue("readAffinity", map[string]any{
					"enabled": true, "crushLocationLabels": []any{"topology.kubernetes.io/zone", "example.com/rack"},
				}))
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			_, err := env.Configure(ctx, d, map[string]any{})
			Expect(err).NotTo(HaveOccurred())
			Eventually(func(g Gomega) {
				g.Expect(entry(ctx, g, d)).NotTo(HaveKey("readAffinity"))
			}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			Expect(untouched(ctx, Default, d)).To(Equal(before))
		})
	}
})
