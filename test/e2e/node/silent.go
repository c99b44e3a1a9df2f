package node

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// returned covers what a node takes that was silent: its containers have ended without their leases, and
// rest longer each time before they are tried again.
const returned = 5 * time.Minute

// resent is how long a write waits at most for its network after the silence: TCP repeats what was lost after
// up to two minutes (TCP_RTO_MAX).
const resent = 2*time.Minute + fixture.Patience

// Silent has a node that nobody hears of any more, and that runs on. It comes after the draining of that
// node, by which the operators are on the other one.
func Silent() {
	It("goes on without a node that falls silent, and with it when it is back", func(ctx SpecContext) {
		quiet, lives := nodes[1], nodes[0]
		lead(ctx, quiet, lives)
		writers := writing(ctx, quiet)
		begin := time.Now()
		DeferCleanup(env.Cluster.Nodes().Plug, quiet)
		Expect(env.Cluster.Nodes().Unplug(ctx, quiet)).To(Succeed())
		for _, d := range driver.All {
			claim(ctx, unheard(d))
		}
		expectReady(ctx, quiet, false)
		figure("silent node not ready", begin)
		// Nobody releases the leases of who is cut off.
		for _, d := range driver.All {
			expectBoundWithin(ctx, unheard(d).name, time.Until(begin.Add(lease)))
			figure(d.Kind+" volume bound after the node of its controller fell silent", begin)
		}
		expectCalm(ctx)
		for _, d := range driver.All {
			pod := hold(ctx, unheard(d), lives)
			do(ctx, pod, "write", file, mebibyte, pod)
		}
		for _, w := range writers {
			if w.on == lives {
				expectWriting(ctx, w.pod)
			}
		}
		expectCalm(ctx)
		begin = time.Now()
		Expect(env.Cluster.Nodes().Plug(ctx, quiet)).To(Succeed())
		expectReady(ctx, quiet, true)
		env.SettleWithin(ctx, returned)
		figure("all as before after the node was back", begin)
		for _, w := range writers {
			expectWritingWithin(ctx, w.pod, resent)
			end(ctx, w.pod)
		}
	})
}

// writer is a pod on a node that writes to its volume.
type writer struct {
	claimed
	on, pod string
}

// writing are pods of each driver's volumes on each node, but for CephFS where it gets quiet: Ceph evicts
// clients that are silent for a minute, and their pods fail.
func writing(ctx context.Context, quiet string) []writer {
	GinkgoHelper()
	var out []writer
	for _, d := range driver.All {
		for _, on := range nodes {
			if d.Kind == driver.CephFS.Kind && on == quiet {
				continue
			}
			c := claimed{name: "writes-" + d.Kind + "-on-" + on, class: d.StorageClass}
			claim(ctx, c)
			out = append(out, writer{c, on, create(ctx, c, on, "append", file)})
		}
	}
	for _, w := range out {
		expectRunning(ctx, w.pod)
	}
	return out
}

// unheard is the volume that is claimed when the node of its controller is silent.
func unheard(d driver.Driver) claimed {
	return claimed{name: "unheard-" + d.Kind, class: d.StorageClass}
}

// lead has controllers of each driver on both nodes, those that provision volumes on the first.
func lead(ctx context.Context, on, other string) {
	GinkgoHelper()
	for _, p := range pods(ctx) {
		if strings.Contains(p.Name, "operator") {
			Expect(p.Spec.NodeName).To(Equal(other), p.Name)
		}
	}
	DeferCleanup(env.Kubectl, "uncordon", other)
	env.Kubectl(ctx, "cordon", other)
	var names []string
	for _, d := range driver.All {
		names = append(names, d.ControllerName())
	}
	env.Kubectl(ctx, "delete", "pods", "-n", driver.Namespace, "--selector=app in ("+strings.Join(names, ",")+")", "--timeout=2m")
	env.Settle(ctx)
	env.Kubectl(ctx, "uncordon", other)
	for _, d := range driver.All {
		leads := ""
		Eventually(func(g Gomega) {
			leads = leader(ctx, d)
			g.Expect(nodesOf(ctx, g, d)).To(HaveKeyWithValue(leads, on))
		}).WithContext(ctx).Should(Succeed())
		for pod := range nodesOf(ctx, Default, d) {
			if pod != leads {
				env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, pod, "--timeout=2m")
			}
		}
	}
	env.Settle(ctx)
	for _, d := range driver.All {
		Expect(nodesOf(ctx, Default, d)).To(HaveKeyWithValue(leader(ctx, d), on))
		Expect(nodesOf(ctx, Default, d)).To(ContainElement(other))
	}
}

// nodesOf are those that the pods of a driver's controllers are on.
func nodesOf(ctx context.Context, g Gomega, d driver.Driver) map[string]string {
	GinkgoHelper()
	out := map[string]string{}
	for _, p := range env.Pods(ctx, g, d.ControllerName()) {
		out[p.Name] = p.Spec.NodeName
	}
	return out
}

func expectReady(ctx context.Context, name string, ready bool) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		node, err := env.Kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(openshift.Ready(*node)).To(Equal(ready), "%+v", node.Status.Conditions)
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// expectCalm expects that the operators see that pods are missing, and call that neither broken nor a rollout.
func expectCalm(ctx context.Context) {
	GinkgoHelper()
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			g.Expect(env.Node(ctx, g, d).Status.NumberUnavailable).To(Equal(int32(1)))
			g.Expect(env.Controller(ctx, g, d).Status.UnavailableReplicas).To(Equal(int32(1)))
		}).WithContext(ctx).Should(Succeed())
	}
	Consistently(func(g Gomega) {
		for _, d := range driver.All {
			g.Expect(fixture.Complaints(env.Conditions(ctx, g, d))).To(BeEmpty(), d.Name)
		}
		env.ExpectStatus(ctx, g, "True", "False", "False")
	}).WithContext(ctx).WithTimeout(fixture.Undisturbed).Should(Succeed())
}
