package tuning

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("The cluster's TLS profile", func() {
	// everywhere waits until each kube-rbac-proxy has exactly this minimum, and the ciphers.
	everywhere := func(ctx SpecContext, minimum string, ciphers ...string) {
		GinkgoHelper()
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				proxies := fixture.Proxies(env.Controller(ctx, g, d).Spec.Template)
				g.Expect(len(proxies)).To(BeNumerically(">=", 5))
				for _, c := range proxies {
					g.Expect(c.Args).To(ContainElement("--tls-min-version="+minimum), c.Name)
					i := slices.IndexFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "--tls-cipher-suites=") })
					g.Expect(i).To(BeNumerically(">=", 0), c.Name)
					for _, cipher := range ciphers {
						g.Expect(c.Args[i]).To(ContainSubstring(cipher), c.Name)
					}
				}
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}
	}

	for _, policy := range fixture.TLSAdherences {
		It(fmt.Sprintf("reaches every kube-rbac-proxy within seconds, tlsAdherence being %q", policy), func(ctx SpecContext) {
			env.ServeTLSAdherence(ctx, policy)
			DeferCleanup(env.Cluster.SetTLSProfile, (*configv1.TLSSecurityProfile)(nil))
			everywhere(ctx, "VersionTLS12")
			begin := time.Now()
			Expect(env.Cluster.SetTLSProfile(ctx, &configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}})).To(Succeed())
			everywhere(ctx, "VersionTLS13", "TLS_AES_128_GCM_SHA256")
			AddReportEntry("in the Deployments after " + time.Since(begin).String())

			Expect(env.Cluster.SetTLSProfile(ctx, &configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType, Custom: &configv1.CustomTLSProfile{
				TLSProfileSpec: configv1.TLSProfileSpec{Ciphers: []string{"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"}, MinTLSVersion: configv1.VersionTLS12},
			}})).To(Succeed())
			everywhere(ctx, "VersionTLS12", "=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")

			Expect(env.Cluster.SetTLSProfile(ctx, nil)).To(Succeed())
			everywhere(ctx, "VersionTLS12", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
		})
	}
})
