package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/openshift/library-go/pkg/operator/certrotation"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/servingcerts"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

func certified() {
	It("has a certificate for each Service that clients can verify", func(ctx SpecContext) {
		Expect(certificates(ctx, Default)).To(HaveLen(5), "cluster-storage, the operators and the drivers' controllers")
	})

	It("serves its own from the start, and the next one, in the same process", func(ctx SpecContext) {
		process := env.PodProcess(Default, clusterstorage.Name)
		log, err := os.ReadFile(process.LogFile())
		Expect(err).NotTo(HaveOccurred())
		Expect(string(log)).NotTo(ContainSubstring("insecure, self-signed"))
		pid, name := process.PID(), clusterstorage.CertificateSecret
		Expect(served(ctx, Default, process)).To(Equal(certificates(ctx, Default)[name]))
		before := certificates(ctx, Default)[name]
		expire(ctx, name)
		Eventually(func(g Gomega) {
			now := certificates(ctx, g)[name]
			g.Expect(now).NotTo(Equal(before))
			g.Expect(served(ctx, g, process)).To(Equal(now))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Expect(process.PID()).To(Equal(pid))
	})

	It("is silent about what went as it should", func(ctx SpecContext) {
		events, err := env.Kube.CoreV1().Events(driver.Namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, event := range events.Items {
			Expect(event.Reason).NotTo(HaveSuffix("CreateFailed"), event.Message)
		}
	})

	It("replaces a certificate that is due, and the pods that have it", func(ctx SpecContext) {
		name := driver.RBD.MetricsCertSecret()
		before, template := certificates(ctx, Default)[name], env.Controller(ctx, Default, driver.RBD).Spec.Template
		expire(ctx, name)
		Eventually(func(g Gomega) {
			g.Expect(certificates(ctx, g)[name]).NotTo(Equal(before))
			g.Expect(env.Controller(ctx, g, driver.RBD).Spec.Template).NotTo(Equal(template))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		env.Settle(ctx)
	})

	It("makes one again that was deleted or damaged", func(ctx SpecContext) {
		deleted, damaged := clusterstorage.CertificateSecret, driver.CephFS.OperatorName()+"-serving-cert"
		before := certificates(ctx, Default)
		secrets := env.Kube.CoreV1().Secrets(driver.Namespace)
		Expect(secrets.Delete(ctx, deleted, metav1.DeleteOptions{})).To(Succeed())
		patch(ctx, damaged, `{"data": {"tls.key": "AAAA"}}`)
		Eventually(func(g Gomega) {
			after := certificates(ctx, g)
			g.Expect(after[deleted]).NotTo(Equal(before[deleted]))
			g.Expect(after[damaged]).NotTo(Equal(before[damaged]))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
	})

	It("replaces the CA that is due, and who trusts it goes on to", func(ctx SpecContext) {
		before := certificates(ctx, Default)
		expire(ctx, clusterstorage.SignerSecret)
		Eventually(func(g Gomega) {
			bundle, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, servingcerts.BundleConfigMap, metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(authorities(bundle)).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed())
		Expect(certificates(ctx, Default)).To(Equal(before), "certificates that are still good")
	})

	It("tells Prometheus when they end, and what to say then", func(ctx SpecContext) {
		expectAlerts(ctx)
	})
}

// certificates are those of all Services, by the names of their Secrets, each verified.
func certificates(ctx context.Context, g Gomega) map[string]string {
	GinkgoHelper()
	services, err := env.Kube.CoreV1().Services(driver.Namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	bundle, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, servingcerts.BundleConfigMap, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	for _, ca := range authorities(bundle) {
		roots.AddCert(ca)
	}
	out := map[string]string{}
	for _, service := range services.Items {
		name := service.Annotations[servingcerts.SecretAnnotation]
		if name == "" {
			continue
		}
		secret, err := env.Kube.CoreV1().Secrets(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		g.Expect(err).NotTo(HaveOccurred(), name)
		_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: service.Name + "." + driver.Namespace + ".svc"})
		g.Expect(err).NotTo(HaveOccurred(), name)
		out[name] = identity(pair.Leaf)
	}
	return out
}

func identity(certificate *x509.Certificate) string {
	return certificate.SerialNumber.String() + " of " + certificate.NotBefore.String()
}

// served is the certificate that a process shows to a client that verifies by the bundle.
func served(ctx context.Context, g Gomega, process *operatorprocess.Process) string {
	GinkgoHelper()
	bundle, err := env.Kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, servingcerts.BundleConfigMap, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	for _, ca := range authorities(bundle) {
		roots.AddCert(ca)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: clusterstorage.Name + "-metrics." + driver.Namespace + ".svc"}}
	conn, err := dialer.DialContext(ctx, "tcp", process.Address())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = conn.Close() }()
	return identity(conn.(*tls.Conn).ConnectionState().PeerCertificates[0])
}

func authorities(bundle *corev1.ConfigMap) []*x509.Certificate {
	GinkgoHelper()
	out, err := cert.ParseCertsPEM([]byte(bundle.Data[servingcerts.BundleKey]))
	Expect(err).NotTo(HaveOccurred())
	return out
}

// expectAlerts brings the other CRD of prometheus-operator until the spec ends; the alerts are the same
// everywhere, and one of them is about certificates.
func expectAlerts(ctx context.Context) {
	GinkgoHelper()
	rules := schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "prometheusrules"}
	env.Install(ctx, fixture.Shapeless(rules, "PrometheusRule", "Namespaced"))
	token := env.Scraper(ctx)
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			_, err := env.Dynamic.Resource(rules).Namespace(driver.Namespace).Get(ctx, d.PrometheusRule(), metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			_, text := fixture.Scrape(ctx, g, env.PodProcess(g, d.OperatorName()), token)
			for _, secret := range []string{d.ServingCertSecret(), d.MetricsCertSecret()} {
				g.Expect(text).To(ContainSubstring(`ceph_csi_driver_operator_serving_certificate_expiration_timestamp_seconds{secret="` + secret + `"} `))
			}
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	}
}

// expectMonitored brings the CRD of ServiceMonitors until the spec ends, which tell a Prometheus by
// what to verify certificates.
func expectMonitored(ctx context.Context) {
	GinkgoHelper()
	monitors := schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}
	env.Install(ctx, fixture.Shapeless(monitors, "ServiceMonitor", "Namespaced"))
	Eventually(func(g Gomega) {
		all, err := env.Dynamic.Resource(monitors).Namespace(driver.Namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(all.Items).To(HaveLen(4), "the operators and the drivers' controllers")
		for _, monitor := range all.Items {
			endpoints, _, _ := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
			g.Expect(endpoints).NotTo(BeEmpty())
			service, _, _ := unstructured.NestedString(monitor.Object, "spec", "selector", "matchLabels", "app")
			services, err := env.Kube.CoreV1().Services(driver.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + service})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(services.Items).To(HaveLen(1))
			for _, endpoint := range endpoints {
				g.Expect(endpoint).To(And(HaveKeyWithValue("tlsConfig", map[string]any{
					"serverName": services.Items[0].Name + "." + driver.Namespace + ".svc",
					"ca":         map[string]any{"configMap": map[string]any{"name": servingcerts.BundleConfigMap, "key": servingcerts.BundleKey}},
				}), HaveKeyWithValue("bearerTokenFile", "/var/run/secrets/kubernetes.io/serviceaccount/token")))
			}
		}
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
}

// expire has a certificate, by what is noted beside it, run out an hour ago.
func expire(ctx context.Context, secret string) {
	GinkgoHelper()
	patch(ctx, secret, fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`,
		certrotation.CertificateNotAfterAnnotation, time.Now().Add(-time.Hour).Format(time.RFC3339)))
}

func patch(ctx context.Context, secret, change string) {
	GinkgoHelper()
	_, err := env.Kube.CoreV1().Secrets(driver.Namespace).Patch(ctx, secret, types.MergePatchType, []byte(change), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}
