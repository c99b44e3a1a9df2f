package inputs

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// claim is a key of a pool's application metadata that the operators have written.
type claim struct{ pool, application, key string }

// claims are all of them. That nodelete is an operator's is said by a key's presence, not by its value.
func claims(ctx context.Context, g Gomega) map[claim]string {
	GinkgoHelper()
	text, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls", "detail", "--format", "json")
	g.Expect(err).NotTo(HaveOccurred())
	var pools []struct {
		Name         string                       `json:"pool_name"`
		Applications map[string]map[string]string `json:"application_metadata"`
	}
	g.Expect(json.Unmarshal(text, &pools)).To(Succeed())
	out := map[claim]string{}
	for _, p := range pools {
		for application, keys := range p.Applications {
			for key, value := range keys {
				if strings.HasPrefix(key, driver.ClaimPrefix) {
					out[claim{p.Name, application, key}] = value
				}
			}
		}
	}
	return out
}

var _ = Describe("What operators write into Ceph", func() {
	// Claims in the names of others stay: nobody but their cluster, or a person, knows what they are for.
	It("is right again after somebody has changed it, and no pool loses its protection meanwhile", func(ctx SpecContext) {
		var right map[claim]string
		Eventually(func(g Gomega) {
			right = claims(ctx, g)
			g.Expect(right).NotTo(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
		protected := env.ProtectedPools(ctx, Default)
		Expect(protected).NotTo(BeEmpty())
		values := []string{"x", driver.ClaimUnprotected, "7", driver.ClaimOthers, strings.Repeat("y", 100), "-"} // Ceph takes no others
		keys := slices.SortedFunc(maps.Keys(right), func(a, b claim) int { return strings.Compare(a.pool+a.key, b.pool+b.key) })
		for i, value := range values {
			one := keys[i%len(keys)]
			By(one.pool + ": " + one.key + " = " + value)
			_, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "application", "set", one.pool, one.application, one.key, value)
			Expect(err).NotTo(HaveOccurred())
		}
		Eventually(func(g Gomega) {
			g.Expect(env.ProtectedPools(ctx, g)).To(ConsistOf(protected))
			g.Expect(claims(ctx, g)).To(Equal(right))
		}).WithContext(ctx).WithTimeout(3 * fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
		env.Settle(ctx)
	})
})
