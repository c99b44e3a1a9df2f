package tuning

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("The cluster-wide proxy", func() {
	It("reaches the driver's containers and no others", func(ctx SpecContext) {
		proxy := configv1.ProxyStatus{
			HTTPProxy: "http://proxy.example.com:3128", HTTPSProxy: "https://proxy.example.com:3129", NoProxy: ".cluster.local,10.0.0.0/8",
		}
		DeferCleanup(env.Cluster.SetProxy, configv1.ProxyStatus{})
		Expect(env.Cluster.SetProxy(ctx, proxy)).To(Succeed())
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				for _, template := range []corev1.PodTemplateSpec{env.Controller(ctx, g, d).Spec.Template, env.Node(ctx, g, d).Spec.Template} {
					for name, value := range map[string]string{"HTTP_PROXY": proxy.HTTPProxy, "HTTPS_PROXY": proxy.HTTPSProxy, "NO_PROXY": proxy.NoProxy} {
						g.Expect(fixture.ContainersWith(template, name)).To(Equal([]string{"csi-driver"}), name)
						g.Expect(fixture.Container(g, template, "csi-driver").Env).To(ContainElement(corev1.EnvVar{Name: name, Value: value}))
					}
				}
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}

		Expect(env.Cluster.SetProxy(ctx, configv1.ProxyStatus{})).To(Succeed())
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				g.Expect(fixture.ContainersWith(env.Controller(ctx, g, d).Spec.Template, "HTTPS_PROXY")).To(BeEmpty())
				g.Expect(fixture.ContainersWith(env.Node(ctx, g, d).Spec.Template, "HTTPS_PROXY")).To(BeEmpty())
			}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		}
	})
})
