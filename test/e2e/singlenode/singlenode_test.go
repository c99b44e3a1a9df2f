// Package singlenode deploys both drivers on an OpenShift of one node.
package singlenode

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var env *fixture.Environment

func TestSingleNode(t *testing.T) { fixture.Run(t, "An OpenShift of one node") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{ControlPlaneTopology: configv1.SingleReplicaTopologyMode})
	env.Deploy(ctx)
})

var _ = It("gets one pod of each kind, on its only node", func(ctx SpecContext) {
	nodes, err := env.Kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	Expect(err).NotTo(HaveOccurred())
	Expect(nodes.Items).To(HaveLen(1))
	for _, d := range driver.All {
		Expect(*env.Controller(ctx, Default, d).Spec.Replicas).To(Equal(int32(1)), d.Name)
		for _, workload := range []string{d.ControllerName(), d.NodeName()} {
			pods := env.Pods(ctx, Default, workload)
			Expect(pods).To(HaveLen(1), workload)
			Expect(pods[0].Spec.NodeName).To(Equal(nodes.Items[0].Name), workload)
		}
		for _, v := range env.History.Of(fixture.Kind("Deployment")) {
			replicas, _, err := nested(v)
			Expect(err).NotTo(HaveOccurred())
			Expect(replicas).To(Equal(int64(1)), "%s had another number of replicas in between", v)
		}
	}
})

func nested(v fixture.Version) (int64, bool, error) {
	return unstructured.NestedInt64(v.Object.Object, "spec", "replicas")
}
