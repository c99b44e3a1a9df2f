package node

import (
	"context"
	"encoding/json"
	"fmt"
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

// shown is how long kubelets may take to show pods a Secret, at most, by their documentation: they look
// every minute, and once more.
const shown = 3 * time.Minute

// snapshotLease is how long a snapshotter waits at most for one that ended without releasing its lease, as it
// does while it cares for group snapshots: it asks every 8 s or up to 120 % later, and takes 30 s of silence
// for the end. What it then does comes on top.
const snapshotLease = 50*time.Second + fixture.Patience

// longestPause is how long a write may wait while a mon goes.
const longestPause = 30 * time.Second

// Disturbed has what happens to pods and mons on any day.
func Disturbed() {
	It("binds the next volume soon after the controllers' pods were deleted", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			lease := leader(ctx, d)
			begin := time.Now()
			env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, "--wait=false", lease)
			c := claimed{name: "next-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			expectBound(ctx, c.name)
			figure(d.Kind+" volume bound after its controller's pod was deleted", begin)
		})
		env.Settle(ctx)
	})

	It("takes the next snapshot soon after the controllers' pods were deleted", func(ctx SpecContext) {
		forBoth(func(d driver.Driver) {
			c := claimed{name: "kept-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			expectBound(ctx, c.name)
			begin := time.Now()
			env.Kubectl(ctx, "delete", "pod", "-n", driver.Namespace, "--wait=false", holder(ctx, d, "external-snapshotter-leader-"+leaseOf(d)))
			snapshotWithin(ctx, c.name, d.SnapshotClass, snapshotLease)
			figure(d.Kind+" snapshot ready after its controller's pod was deleted", begin)
		})
		env.Settle(ctx)
	})

	It("goes on writing while all mons are replaced, one after the other", func(ctx SpecContext) {
		pods := []string{}
		for _, d := range driver.All {
			c := claimed{name: "log-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			pods = append(pods, create(ctx, c, nodes[0], "append", file))
		}
		expectRunning(ctx, pods...)
		before, ceph := restarts(ctx), env.Cluster.Ceph()
		begin := time.Now()
		for i, old := range ceph.Mons() {
			Expect(ceph.AddMon(ctx, fmt.Sprint("new", i))).To(Succeed())
			expectMons(ctx)
			Expect(ceph.RemoveMon(ctx, old)).To(Succeed())
		}
		expectMons(ctx)
		figure("all mons replaced", begin)
		begin = time.Now()
		expectMonsShown(ctx)
		figure("pods see the new mons", begin)
		for _, pod := range pods {
			expectWriting(ctx, pod)
			GinkgoWriter.Printf("FIGURE longest pauses of %s: %s\n", pod, env.Kubectl(ctx, "logs", "-n", metav1.NamespaceDefault, pod))
		}
		end(ctx, pods...)
		Expect(restarts(ctx)).To(Equal(before))
	})
}

// expectMons waits until the Secrets that pods mount list the mons of Ceph's monmap.
func expectMons(ctx context.Context) {
	GinkgoHelper()
	mons := env.MonAddresses(ctx)
	for _, d := range driver.All {
		Eventually(func(g Gomega) {
			entries := env.ConfigJSON(ctx, g, d)
			g.Expect(entries).To(HaveLen(1))
			g.Expect(entries[0].Monitors).To(ConsistOf(mons))
			// An operator whose librados has lost all mons tries another connection after half a minute.
		}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
	}
}

// expectMonsShown waits until kubelets show that to the drivers' pods. A call that begins before that, with
// no connection from an earlier one, and with every mon gone that the pod knows, hangs for librados' five
// minutes, and so does what asks for the same volume meanwhile.
func expectMonsShown(ctx context.Context) {
	GinkgoHelper()
	mons := env.MonAddresses(ctx)
	for _, d := range driver.All {
		for _, workload := range []string{d.ControllerName(), d.NodeName()} {
			for _, pod := range env.Pods(ctx, Default, workload) {
				file := "/var/lib/kubelet/pods/" + string(pod.UID) + "/volumes/kubernetes.io~secret/ceph-csi-config/config.json"
				Eventually(func(g Gomega) {
					out, err := env.Cluster.Nodes().Run(ctx, pod.Spec.NodeName, "cat", file)
					g.Expect(err).NotTo(HaveOccurred(), out)
					var entries []fixture.ConfigEntry
					g.Expect(json.Unmarshal([]byte(out), &entries)).To(Succeed())
					g.Expect(entries).To(HaveLen(1))
					g.Expect(entries[0].Monitors).To(ConsistOf(mons))
				}).WithContext(ctx).WithTimeout(shown).WithPolling(fixture.CephPolling).Should(Succeed())
			}
		}
	}
}

// expectWriting waits until a pod that appends has appended more. One that has just started may have written nothing yet.
func expectWriting(ctx context.Context, pod string) {
	GinkgoHelper()
	expectWritingWithin(ctx, pod, longestPause)
}

func expectWritingWithin(ctx context.Context, pod string, limit time.Duration) {
	GinkgoHelper()
	first := -1
	Eventually(func(g Gomega) {
		written := lines(ctx, g, pod)
		if first < 0 {
			first = written
		}
		g.Expect(written).To(BeNumerically(">", first+1), pod)
	}).WithContext(ctx).WithTimeout(limit).WithPolling(fixture.CephPolling).Should(Succeed())
}

// leader is the name of the controller's pod that provisions volumes.
func leader(ctx context.Context, d driver.Driver) string {
	GinkgoHelper()
	return holder(ctx, d, leaseOf(d))
}

// leaseOf is the end of the names of a driver's leases, and all of its provisioner's.
func leaseOf(d driver.Driver) string { return strings.ReplaceAll(d.Name, ".", "-") }

// holder is the name of the controller's pod that has a lease, once it is none that has gone without releasing it.
func holder(ctx context.Context, d driver.Driver, lease string) string {
	GinkgoHelper()
	var out string
	Eventually(func(g Gomega) {
		lease, err := env.Kube.CoordinationV1().Leases(driver.Namespace).Get(ctx, lease, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lease.Spec.HolderIdentity).To(HaveValue(HavePrefix(d.ControllerName())))
		out = *lease.Spec.HolderIdentity
		_, err = env.Kube.CoreV1().Pods(driver.Namespace).Get(ctx, out, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred(), "who has lease %s", lease.Name)
	}).WithContext(ctx).WithTimeout(snapshotLease).Should(Succeed())
	return out
}

// lines are those that a running pod has written, as its node sees them; a mount whose Ceph is silent fails.
func lines(ctx context.Context, g Gomega, pod string) int {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, 2*longestPause)
	defer cancel()
	p, err := env.Kube.CoreV1().Pods(metav1.NamespaceDefault).Get(ctx, pod, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.Status.Phase).To(Equal(corev1.PodRunning), pod)
	out, err := env.Cluster.Nodes().Run(ctx, p.Spec.NodeName, "sh", "-c", "cat /var/lib/kubelet/pods/"+string(p.UID)+"/volumes/*/*/mount/file | wc -l")
	g.Expect(err).NotTo(HaveOccurred(), out)
	count, err := strconv.Atoi(strings.TrimSpace(out))
	g.Expect(err).NotTo(HaveOccurred(), out)
	return count
}
