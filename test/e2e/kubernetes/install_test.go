package kubernetes

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const manifests = "manifests/kubernetes/"

// registryScripts are what the README has nodes pull from a registry with a password by: before the operators are there,
// and when the drivers are.
func registryScripts() []string {
	GinkgoHelper()
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, manifests, "README.md"))
	Expect(err).NotTo(HaveOccurred())
	_, chapter, _ := strings.Cut(string(text), "\n## A registry that asks for a password\n")
	out := []string{""}
	for line := range strings.Lines(chapter) {
		last := len(out) - 1
		if command, indented := strings.CutPrefix(line, "    "); indented {
			out[last] += command
		} else if out[last] != "" {
			out = append(out, "")
		}
	}
	Expect(out).To(HaveExactElements(ContainSubstring("create serviceaccount"), ContainSubstring("patch serviceaccount"), BeEmpty()))
	return out[:2]
}

func installed() {
	It("has ServiceAccounts before it is installed, where a registry asks for a password", func(ctx SpecContext) {
		env.Shell(ctx, env.Checkout(ctx), registryScripts()[0])
	})

	It("needs the README's three commands for both drivers", func(ctx SpecContext) {
		env.InstallByReadme(ctx)
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).Should(Succeed())
		out := env.Kubectl(ctx, strings.Fields(strings.TrimSuffix(strings.Join(fixture.ReadmeCommands()[2], " "), "--watch"))...)
		Expect(strings.Fields(strings.Split(out, "\n")[1])[:4]).To(Equal([]string{"storage", fixture.ReadmeVersion, "True", "False"}))
	})

	It("leaves ServiceAccounts the password of the registry", func(ctx SpecContext) {
		env.Shell(ctx, env.Checkout(ctx), registryScripts()[1])
		Eventually(func(g Gomega) { env.ExpectStatus(ctx, g, "True", "False", "False") }).WithContext(ctx).Should(Succeed())
		deployments, err := env.Kube.AppsV1().Deployments(driver.Namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		daemonSets, err := env.Kube.AppsV1().DaemonSets(driver.Namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		used := map[string]bool{}
		for _, d := range deployments.Items {
			used[d.Spec.Template.Spec.ServiceAccountName] = true
		}
		for _, d := range daemonSets.Items {
			used[d.Spec.Template.Spec.ServiceAccountName] = true
		}
		Expect(used).To(HaveLen(7))
		for name := range used {
			account, err := env.Kube.CoreV1().ServiceAccounts(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(account.ImagePullSecrets).To(Equal([]corev1.LocalObjectReference{{Name: "registry"}}), name)
		}
	})

	It("changes nothing when it is installed again, and rests", func(ctx SpecContext) {
		out := env.KubectlIn(ctx, env.Checkout(ctx), fixture.ReadmeCommands()[0]...)
		for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
			Expect(line).To(HaveSuffix("unchanged"))
		}
		Eventually(func(g Gomega) {
			since := time.Now()
			g.Consistently(func() []string { return fixture.Lines(fixture.Writes(env.GlueRequests(since))) }).
				WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(BeEmpty())
		}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	})
}

func described() {
	It("has nothing that the preflight check finds wrong", func(ctx SpecContext) {
		env.StartSnapshotController(ctx)
		DeferCleanup(env.StopSnapshotController)
		dir := env.Checkout(ctx)
		out, err := env.Command(ctx, "check", "--ceph-conf="+filepath.Join(dir, "ceph.conf"), "--keyring="+filepath.Join(dir, "keyring"))
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("this is no OpenShift"))
	})

	It("has an infra ID of its own, which names the pool and tags the volumes", func(ctx SpecContext) {
		namespace, err := env.Kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		infrastructure, err := env.Configs.Infrastructures().Get(ctx, "cluster", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		id := infrastructure.Status.InfrastructureName
		Expect(id).To(Equal("kubernetes-" + strings.ReplaceAll(string(namespace.UID), "-", "")[:12]))
		Expect(infrastructure.Status.InfrastructureTopology).To(Equal(configv1.HighlyAvailableTopologyMode))
		pools, err := env.Cluster.Ceph().Command(ctx, "osd", "pool", "ls")
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Fields(string(pools))).To(ContainElement(id + "-rbd"))
		for _, d := range driver.All {
			container := fixture.Container(Default, env.Controller(ctx, Default, d).Spec.Template, "csi-driver")
			Expect(container.Args).To(ContainElement("--clustername=" + id))
		}
	})

	It("has the proxy that the README's command sets", func(ctx SpecContext) {
		root, err := repository.Root()
		Expect(err).NotTo(HaveOccurred())
		text, err := os.ReadFile(filepath.Join(root, manifests, "README.md"))
		Expect(err).NotTo(HaveOccurred())
		command := regexp.MustCompile(`(?m)^ +kubectl (patch proxies\S+ .*)$`).FindStringSubmatch(string(text))
		Expect(command).NotTo(BeNil())
		with := func(d driver.Driver) []string {
			return fixture.ContainersWith(env.Controller(ctx, Default, d).Spec.Template, "HTTPS_PROXY")
		}
		env.Kubectl(ctx, strings.Fields(strings.ReplaceAll(command[1], "'", ""))...)
		for _, d := range driver.All {
			Eventually(with).WithArguments(d).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Equal([]string{"csi-driver"}))
		}
		env.Kubectl(ctx, "patch", "proxies.config.openshift.io", "cluster", "--subresource=status", "--type=merge", `--patch={"status":{"httpsProxy":null,"noProxy":null}}`)
		for _, d := range driver.All {
			Eventually(with).WithArguments(d).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(BeEmpty())
		}
		env.Settle(ctx)
	})

	It("runs pods on whatever Linux nodes there are, as a user that an image need not name", func(ctx SpecContext) {
		for _, d := range driver.All {
			deployment := env.Controller(ctx, Default, d)
			Expect(*deployment.Spec.Replicas).To(Equal(int32(2)))
			Expect(deployment.Spec.Template.Spec.NodeSelector).To(Equal(map[string]string{corev1.LabelOSStable: "linux"}))
			Expect(deployment.Spec.Template.Spec.SecurityContext.RunAsUser).To(HaveValue(BeNumerically(">", 0)))
		}
		Eventually(func(g Gomega) {
			pods, err := env.Kube.CoreV1().Pods(driver.Namespace).List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pods.Items).To(HaveLen(3+2*2+2*3), "three operators, two controllers and three nodes' pods of each driver")
			for _, p := range pods.Items {
				g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), p.Name)
			}
		}).WithContext(ctx).Should(Succeed())
	})
}
