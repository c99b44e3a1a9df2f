package node

import (
	"context"
	"fmt"
	"slices"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	realnode "github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// env is the suite's only cluster.
var env *fixture.Environment

// Run runs the suite of the calling package where there can be real nodes.
func Run(t *testing.T, description string) {
	if err := realnode.Missing(); err != nil {
		t.Skip("not run: ", err)
	}
	fixture.Run(t, description)
}

// Start gives the suite its cluster, whose nodes have further images, too, or in the place of those of the same name.
func Start(ctx context.Context, options embedded.Options, further ...images.Archive) {
	GinkgoHelper()
	options.RealNodes, options.Images, options.Sandbox = len(nodes), archives(ctx), images.Sandbox
	for _, a := range further {
		options.Images = slices.DeleteFunc(options.Images, func(i wire.Image) bool { return i.Name == a.Name })
		options.Images = append(options.Images, wire.Image(a))
	}
	env = fixture.Start(ctx, options)
	took(fmt.Sprintf("%d real nodes ready after their start", options.RealNodes), env.Cluster.NodesReady())
}

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
