package node

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const (
	tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	// noToken has the workload ask without one.
	noToken = "-"
	// proxies are the containers with metrics of both drivers' controllers, operators the others.
	proxies, operators = 5, 3
)

// Measured is what Prometheus sees.
func Measured() {
	It("shows metrics of every container through its Service, to who may see them", func(ctx SpecContext) {
		env.Scraper(ctx)
		may, mayNot := ask(ctx, "scraper"), ask(ctx, "default")
		urls := metricsURLs(ctx)
		Expect(urls).To(HaveLen(2*proxies + operators))
		for _, asked := range []struct {
			answers []string
			pod     string
			token   string
		}{{[]string{"200"}, may, tokenFile}, {[]string{"401", "403"}, may, noToken}, {[]string{"403"}, mayNot, tokenFile}} {
			out := env.Kubectl(ctx, append([]string{"exec", "-n", driver.Namespace, asked.pod, "--", "/usr/bin/workload", "get", asked.token}, urls...)...)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			Expect(lines).To(HaveLen(len(urls)), out)
			for i, url := range urls {
				code, of, _ := strings.Cut(lines[i], " ")
				Expect(of).To(Equal(url))
				Expect(code).To(BeElementOf(asked.answers), "%s asked by %s, token %s", url, asked.pod, asked.token)
			}
		}
	})
}

// ask starts a pod that asks as a ServiceAccount, until the spec ends.
func ask(ctx context.Context, account string) string {
	GinkgoHelper()
	name := "asks-as-" + account
	_, err := env.Kube.CoreV1().Pods(driver.Namespace).Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"openshift.storage.network-policy.dns": "allow"}},
		Spec: corev1.PodSpec{
			ServiceAccountName: account,
			Containers:         []corev1.Container{{Name: "workload", Image: images.Workload, ImagePullPolicy: corev1.PullNever, Args: []string{"hold"}}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Kubectl, "delete", "pod", "-n", driver.Namespace, "--grace-period=2", name)
	Eventually(func(g Gomega) {
		p, err := env.Kube.CoreV1().Pods(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), name)
	}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
	return name
}

// metricsURLs are those of all ports of all Services of the operators and drivers.
func metricsURLs(ctx context.Context) []string {
	GinkgoHelper()
	services, err := env.Kube.CoreV1().Services(driver.Namespace).List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	var out []string
	for _, service := range services.Items {
		for _, port := range service.Spec.Ports {
			out = append(out, fmt.Sprintf("https://%s.%s.svc:%d/metrics", service.Name, service.Namespace, port.Port))
		}
	}
	return out
}
