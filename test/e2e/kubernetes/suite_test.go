package kubernetes

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var env *fixture.Environment

func TestKubernetes(t *testing.T) { fixture.Run(t, "A Kubernetes without OpenShift") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Plain: true})
	labelServer(ctx)
	env.RunPods()
})

// labelServer marks a node as RKE2 and Harvester mark those with a control plane: OpenShift's label, with
// another value.
func labelServer(ctx context.Context) {
	GinkgoHelper()
	nodes, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(nodes.Items).NotTo(BeEmpty())
	env.Kubectl(ctx, "label", "node", nodes.Items[0].Name, "node-role.kubernetes.io/master=true", "node-role.kubernetes.io/control-plane=true")
}

var _ = Describe("A Kubernetes without OpenShift", Ordered, func() {
	installed()
	described()
	certified()
	uninstalled()
	deleted()
})
