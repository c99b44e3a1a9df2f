package inputs

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// description is something that the cluster's own objects say, and what takes it back.
type description struct {
	what     string
	do, undo func(ctx context.Context)
	// shows is a part of the controllers' Deployment that follows it, as JSON; says is the complaint about what cannot be followed.
	shows string
	says  []string
	// rests: nothing that runs changes by it.
	rests bool
}

func proxied(what string, proxy configv1.ProxyStatus, says ...string) description {
	return description{what: "Proxy: " + what, shows: quoted(proxy.HTTPProxy + proxy.HTTPSProxy), says: says, rests: len(says) > 0,
		do:   func(ctx context.Context) { Expect(env.Cluster.SetProxy(ctx, proxy)).To(Succeed()) },
		undo: func(ctx context.Context) { Expect(env.Cluster.SetProxy(ctx, configv1.ProxyStatus{})).To(Succeed()) },
	}
}

func profiled(what string, profile configv1.TLSSecurityProfile, minimum configv1.TLSProtocolVersion, says ...string) description {
	return description{what: "APIServer: " + what, shows: quoted("--tls-min-version=" + string(minimum)), says: says, rests: len(says) > 0,
		do:   func(ctx context.Context) { Expect(env.Cluster.SetTLSProfile(ctx, &profile)).To(Succeed()) },
		undo: func(ctx context.Context) { Expect(env.Cluster.SetTLSProfile(ctx, nil)).To(Succeed()) },
	}
}

func custom(what string, minimum configv1.TLSProtocolVersion, ciphers []string, says ...string) description {
	return profiled(what, configv1.TLSSecurityProfile{Type: configv1.TLSProfileCustomType, Custom: &configv1.CustomTLSProfile{
		TLSProfileSpec: configv1.TLSProfileSpec{MinTLSVersion: minimum, Ciphers: ciphers},
	}}, minimum, says...)
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	Expect(err).NotTo(HaveOccurred())
	return string(out)
}

func placed(mode configv1.TopologyMode, shows string) description {
	set := func(mode configv1.TopologyMode) func(context.Context) {
		return func(ctx context.Context) { Expect(env.Cluster.SetTopology(ctx, mode)).To(Succeed()) }
	}
	return description{what: "Infrastructure: topology " + string(mode), shows: shows, do: set(mode), undo: set(configv1.HighlyAvailableTopologyMode)}
}

// deletedProxy and its like have somebody delete one of the objects, and make it again as it was.
func deletedProxy() description {
	return description{what: "Proxy: deleted", rests: true, do: func(ctx context.Context) {
		Expect(env.Configs.Proxies().Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
	}, undo: func(ctx context.Context) {
		_, err := env.Configs.Proxies().Create(ctx, &configv1.Proxy{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}}
}

func deletedAPIServer() description {
	return description{what: "APIServer: deleted", rests: true, do: func(ctx context.Context) {
		Expect(env.Configs.APIServers().Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
	}, undo: func(ctx context.Context) {
		_, err := env.Configs.APIServers().Create(ctx, &configv1.APIServer{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}}
}

func deletedInfrastructure() description {
	var was *configv1.Infrastructure
	return description{what: "Infrastructure: deleted", says: []string{"Infrastructure"}, rests: true, do: func(ctx context.Context) {
		var err error
		was, err = env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(env.Configs.Infrastructures().Delete(ctx, "cluster", metav1.DeleteOptions{})).To(Succeed())
	}, undo: func(ctx context.Context) {
		made, err := env.Configs.Infrastructures().Create(ctx, &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Spec: was.Spec}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		made.Status = was.Status
		_, err = env.Configs.Infrastructures().UpdateStatus(ctx, made, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}}
}

func descriptions() []description {
	const required, other = "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384"
	dollar := configv1.ProxyStatus{HTTPSProxy: "http://somebody:${x}@proxy.example.com:3128"}
	return []description{
		proxied("what looks like a placeholder", dollar, "${x}", "Proxy/cluster"),
		proxied("half of what looks like a placeholder", configv1.ProxyStatus{NoProxy: ".svc,${"}, "${", "Proxy/cluster"),
		proxied("IPv6", configv1.ProxyStatus{HTTPProxy: "http://[fd00::1]:3128", NoProxy: "fd00::/8"}),
		proxied("a password that is written as URLs have it", configv1.ProxyStatus{HTTPSProxy: "http://somebody:%24%7Bx%7D@proxy.example.com:3128"}),
		proxied("no URL", configv1.ProxyStatus{HTTPProxy: "日本語 \"'\\\n"}),
		proxied("many exceptions", configv1.ProxyStatus{HTTPProxy: "http://proxy.example.com:3128", NoProxy: strings.Repeat("host.example.com,", 5000)}),
		deletedProxy(),

		profiled("Old", configv1.TLSSecurityProfile{Type: configv1.TLSProfileOldType, Old: &configv1.OldTLSProfile{}}, configv1.VersionTLS10),
		profiled("Modern", configv1.TLSSecurityProfile{Type: configv1.TLSProfileModernType, Modern: &configv1.ModernTLSProfile{}}, configv1.VersionTLS13),
		custom("TLS 1.3, for which nobody chooses ciphers", configv1.VersionTLS13, nil),
		custom("a cipher twice", configv1.VersionTLS12, []string{required, required, other}),
		custom("some that Go does not know", configv1.VersionTLS12, []string{"DHE-RSA-AES128-GCM-SHA256", "nosuch", "", required}),
		custom("none", configv1.VersionTLS12, nil, "APIServer/cluster", required),
		custom("none that Go knows", configv1.VersionTLS12, []string{"nosuch"}, "APIServer/cluster", required),
		custom("none that HTTP/2 demands", configv1.VersionTLS11, []string{other}, "APIServer/cluster", required),
		deletedAPIServer(),

		placed(configv1.SingleReplicaTopologyMode, `"replicas":1`), placed(configv1.ExternalTopologyMode, `"dnsPolicy":"ClusterFirst","nodeSelector":{"kubernetes.io/os":"linux"},"serviceAccountName"`),
		placed(configv1.DualReplicaTopologyMode, `"replicas":2`), placed(configv1.HighlyAvailableArbiterMode, `"replicas":2`),
		deletedInfrastructure(),
	}
}

// deployed is what the workloads are to be, and the rest of what stands.
func deployed(ctx context.Context, g Gomega, d driver.Driver) map[string]any {
	GinkgoHelper()
	out := standing(ctx, g, d)
	for what, spec := range map[string]any{"controller": env.Controller(ctx, g, d).Spec, "node": env.Node(ctx, g, d).Spec} {
		text, err := json.Marshal(spec)
		g.Expect(err).NotTo(HaveOccurred())
		out[what] = string(text)
	}
	return out
}

var _ = Describe("What the cluster says of itself", func() {
	It("is followed, or gets its sentence while all that runs goes on, and is mended without a restart", func(ctx SpecContext) {
		env.Settle(ctx)
		before, generations := map[string]map[string]any{}, map[string]map[string]any{}
		for _, d := range driver.All {
			before[d.Name] = deployed(ctx, Default, d)
		}
		for _, one := range some(descriptions(), 4) {
			By(one.what)
			for _, d := range driver.All {
				generations[d.Name] = standing(ctx, Default, d)
			}
			one.do(ctx)
			for _, d := range driver.All {
				if len(one.says) > 0 {
					complaint(ctx, d, one.says...)
					continue
				}
				Eventually(func(g Gomega) {
					g.Expect(deployed(ctx, g, d)["controller"]).To(ContainSubstring(one.shows))
				}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			}
			if len(one.says) == 0 {
				env.Settle(ctx)
			}
			for _, d := range driver.All {
				if one.rests {
					Consistently(func(g Gomega) { g.Expect(standing(ctx, g, d)).To(Equal(generations[d.Name])) }).
						WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
				}
			}
			one.undo(ctx)
			for _, d := range driver.All {
				Eventually(func(g Gomega) {
					g.Expect(deployed(ctx, g, d)).To(Equal(before[d.Name]))
					g.Expect(env.Condition(ctx, g, d, condition.InfraIDCurrent)).To(BeZero())
				}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
			}
			env.Settle(ctx)
		}
	})
})
