package node

import (
	"context"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// longestPause is how long a write may wait while a mon goes.
const longestPause = 30 * time.Second

func disturbed() {
	It("binds the next volume soon after the controllers' pods were deleted", func(ctx SpecContext) {
		for _, d := range driver.All {
			lease := leader(ctx, d)
			begin := time.Now()
			env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, "--wait=false", lease)
			c := claimed{name: "next-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			expectBound(ctx, c.name)
			figure(d.Kind+" volume bound after its controller's pod was deleted", begin)
		}
		env.Settle(ctx)
	})

	It("goes on writing while the only mon is replaced", func(ctx SpecContext) {
		var pods []string
		for _, c := range []claimed{
			{name: "log-rbd", class: driver.RBD.StorageClass}, {name: "log-cephfs", class: driver.CephFS.StorageClass},
		} {
			claim(ctx, c)
			pods = append(pods, start(ctx, c, nodes[0], "append", file))
		}
		before, ceph := restarts(ctx), env.Cluster.Ceph()
		begin, old := time.Now(), ceph.Mons()
		Expect(ceph.AddMon(ctx, "new")).To(Succeed())
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				entries := env.ConfigJSON(ctx, g, d)
				g.Expect(entries).To(HaveLen(1))
				g.Expect(entries[0].Monitors).To(ConsistOf(env.MonAddresses(ctx)))
			}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
		}
		for _, mon := range old {
			Expect(ceph.RemoveMon(ctx, mon)).To(Succeed())
		}
		figure("mon replaced", begin)
		for _, pod := range pods {
			written := lines(ctx, Default, pod)
			Eventually(func(g Gomega) { g.Expect(lines(ctx, g, pod)).To(BeNumerically(">", written+1), pod) }).
				WithContext(ctx).WithTimeout(longestPause).WithPolling(fixture.CephPolling).Should(Succeed())
		}
		Expect(restarts(ctx)).To(Equal(before))
	})
}

// leader is the name of the controller's pod that provisions volumes.
func leader(ctx context.Context, d driver.Driver) string {
	GinkgoHelper()
	var out string
	Eventually(func(g Gomega) {
		lease, err := env.Kube.CoordinationV1().Leases(driver.Namespace).Get(ctx, strings.ReplaceAll(d.Name, ".", "-"), metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lease.Spec.HolderIdentity).To(HaveValue(HavePrefix(d.ControllerName())))
		out = *lease.Spec.HolderIdentity
	}).WithContext(ctx).WithTimeout(fixture.Patience).Should(Succeed())
	return out
}

// lines are those that a running pod has written, as its node sees them.
func lines(ctx context.Context, g Gomega, pod string) int {
	GinkgoHelper()
	p, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), pod)
	out, err := env.Cluster.Nodes().Run(ctx, p.Spec.NodeName, "sh", "-c", "cat /var/lib/kubelet/pods/"+string(p.UID)+"/volumes/*/*/mount/file | wc -l")
	g.Expect(err).NotTo(HaveOccurred(), out)
	count, err := strconv.Atoi(strings.TrimSpace(out))
	g.Expect(err).NotTo(HaveOccurred(), out)
	return count
}
