package node

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// Broken has a node's pod of a driver that crashes, and is mended.
func Broken() {
	It("tells of the node whose pod crashes, with its last words, and fires an alert until it is mended", func(ctx SpecContext) {
		d, on := driver.CephFS, nodes[1]
		env.Scraper(ctx)
		scraper := ask(ctx, "scraper")
		url := "https://" + d.OperatorName() + "-metrics." + driver.Namespace + ".svc/metrics"
		recording := fixture.NewRecording(d, "CephCSINodesNotServed", func(ctx context.Context, g Gomega) string {
			return env.TryKubectl(ctx, g, "exec", "-n", driver.Namespace, scraper, "--", "/usr/bin/workload", "body", tokenFile, url)
		})
		recording.Phase(ctx, `nodes{state="not_served"} 0`)

		By("putting something in the way of its socket")
		pod := podOn(ctx, d, on)
		socket := "/var/lib/kubelet/plugins/" + d.Name + "/csi.sock"
		DeferCleanup(unblock, on, socket, pod.Name)
		onNode(ctx, on, "rm", socket)
		onNode(ctx, on, "mkdir", "-p", socket+"/in-the-way")
		onNode(ctx, on, "ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", "SIGKILL", containerIn(pod, "csi-driver"))
		recording.Phase(ctx, `nodes{state="not_served"} 1`)
		Eventually(func(g Gomega) {
			said := env.Condition(ctx, g, d, condition.NodesServed)
			g.Expect(said.Reason).To(Equal(condition.NodesNotServed))
			g.Expect(said.Message).To(MatchRegexp(`(?m)^1 of 2 nodes cannot mount volumes of ` + d.Name + `:\n` + on + `: container csi-driver of pod ` + pod.Name +
				`: CrashLoopBackOff, ended with .*/csi/csi.sock.*directory not empty`))
			g.Expect(env.Condition(ctx, g, driver.RBD, condition.NodesServed)).To(BeZero(), "that of the other driver works")
			env.ExpectStatus(ctx, g, "True", "False", "False")
		}).WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())

		By("taking it away")
		unblock(ctx, on, socket, pod.Name)
		recording.Phase(ctx, `nodes{state="not_served"} 0`)
		Eventually(func(g Gomega) { g.Expect(env.Condition(ctx, g, d, condition.NodesServed)).To(BeZero()) }).
			WithContext(ctx).WithTimeout(fixture.RolloutPatience).Should(Succeed())
		env.Settle(ctx)
	})
}

// unblock takes away what is in the way of a socket, and the pod that would wait for minutes before it tries again.
func unblock(ctx context.Context, on, socket, pod string) {
	GinkgoHelper()
	onNode(ctx, on, "sh", "-c", "[ ! -d "+socket+" ] || rm -r "+socket)
	env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, pod, "--ignore-not-found", "--timeout=2m")
}

// podOn is a driver's pod on a node.
func podOn(ctx context.Context, d driver.Driver, on string) corev1.Pod {
	GinkgoHelper()
	for _, pod := range env.Pods(ctx, Default, d.NodeName()) {
		if pod.Spec.NodeName == on {
			return pod
		}
	}
	Fail("no pod of " + d.NodeName() + " on " + on)
	return corev1.Pod{}
}

// containerIn is how containerd calls a container of a pod.
func containerIn(pod corev1.Pod, name string) string {
	GinkgoHelper()
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == name {
			return strings.TrimPrefix(c.ContainerID, "containerd://")
		}
	}
	Fail("no container " + name + " in pod " + pod.Name)
	return ""
}

func onNode(ctx context.Context, node string, command ...string) {
	GinkgoHelper()
	out, err := env.Cluster.Nodes().Run(ctx, node, command...)
	Expect(err).NotTo(HaveOccurred(), out)
}
