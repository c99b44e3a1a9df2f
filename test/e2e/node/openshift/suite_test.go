// Package openshift is what users of OpenShift see first on real nodes.
package openshift

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/node"
)

const description = "Real nodes of an OpenShift"

func TestOpenShift(t *testing.T) { node.Run(t, description) }

var _ = BeforeSuite(func(ctx SpecContext) { node.Start(ctx, embedded.Options{WithoutOperatorRBAC: true}) })

var _ = Describe(description, Ordered, ContinueOnFailure, func() {
	node.Constrained("test/e2e/node/openshift/scc.yaml")
	node.Installed((*fixture.Environment).InstallOnOpenShiftByReadme)
	node.Admitted()
	node.Measured()
	node.Mounted()
	node.Permitted()
	node.Healed()
	node.Pooled()
	node.Copied()
	node.Shown()
	node.Traced()
	node.Broken()
	node.Succeeded()
	node.Removed()
	node.Uninstalled()
})
