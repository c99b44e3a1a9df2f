package node

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	realnode "github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var env *fixture.Environment

func TestNode(t *testing.T) {
	if err := realnode.Missing(); err != nil {
		t.Skip("not run: ", err)
	}
	fixture.Run(t, "Real nodes of a Kubernetes without OpenShift")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Plain: true, RealNodes: 2, Images: archives(ctx), Sandbox: images.Sandbox})
})

var _ = Describe("Real nodes of a Kubernetes without OpenShift", Ordered, ContinueOnFailure, func() {
	installed()
	measured()
	mounted()
	pooled()
	copied()
	disturbed()
})

// archives are all images that the suite runs.
func archives(ctx context.Context) []wire.Image {
	GinkgoHelper()
	all, err := images.Ensure(ctx, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	var out []wire.Image
	for _, a := range all {
		out = append(out, wire.Image(a))
	}
	return out
}
