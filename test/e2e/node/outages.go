package node

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// lease is how long a sidecar waits at most for a leader that is gone without a word: it asks every
// 8 s or up to 120 % later, and takes 90 s of silence for the end. What it then does comes on top.
const lease = 110*time.Second + fixture.Patience

// Outages has what happens on bad days. Draining leaves no pod of a test on the last node.
func Outages() {
	It("binds the next volume soon after the containers of the leading controllers were killed", func(ctx SpecContext) {
		begin := time.Now()
		for _, d := range driver.All {
			pod := controllerPod(ctx, leader(ctx, d))
			for _, container := range pod.Status.ContainerStatuses {
				id := strings.TrimPrefix(container.ContainerID, "containerd://")
				_, err := env.Cluster.Nodes().Run(ctx, pod.Spec.NodeName, "ctr", "--namespace", "k8s.io", "tasks", "kill", "--signal", "SIGKILL", id)
				// A sidecar ends by itself when it loses the driver, which may have been killed before it.
				Expect(err).To(Or(Not(HaveOccurred()), MatchError(ContainSubstring("no running task"))))
			}
		}
		for _, d := range driver.All {
			expectNext(ctx, d, "killed", begin, lease)
		}
		env.Settle(ctx)
	})

	It("binds the next volume soon after a node was drained", func(ctx SpecContext) {
		begin := time.Now()
		DeferCleanup(env.Kubectl, "uncordon", nodes[1])
		env.Kubectl(ctx, "drain", nodes[1], "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=2m")
		figure("node drained", begin)
		for _, d := range driver.All {
			expectNext(ctx, d, "drained", begin, fixture.Patience)
		}
		env.Kubectl(ctx, "uncordon", nodes[1])
		env.Settle(ctx)
	})

	It("keeps volumes mounted while the nodes' pods of the drivers are replaced", func(ctx SpecContext) {
		var writers []string
		for _, d := range driver.All {
			c := claimed{name: "stays-" + d.Kind, class: d.StorageClass}
			claim(ctx, c)
			writers = append(writers, create(ctx, c, nodes[1], "append", file))
		}
		expectRunning(ctx, writers...)
		begin := time.Now()
		for _, d := range driver.All {
			env.Kubectl(ctx, "delete", "pods", "-n", driver.Namespace, "--selector=app="+d.NodeName(), "--timeout=2m")
		}
		env.Settle(ctx)
		figure("nodes' pods replaced", begin)
		for _, pod := range writers {
			expectWriting(ctx, pod)
		}
		end(ctx, writers...)
	})
}

// expectNext claims a volume and waits until it is bound, within a limit from when it began.
func expectNext(ctx context.Context, d driver.Driver, after string, begin time.Time, limit time.Duration) {
	GinkgoHelper()
	c := claimed{name: after + "-" + d.Kind, class: d.StorageClass}
	claim(ctx, c)
	expectBoundWithin(ctx, c.name, time.Until(begin.Add(limit)))
	figure(d.Kind+" volume bound after its controller was "+after, begin)
}

func controllerPod(ctx context.Context, name string) *corev1.Pod {
	GinkgoHelper()
	pod, err := env.Kube.CoreV1().Pods(driver.Namespace).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return pod
}
