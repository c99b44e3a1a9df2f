// Package upgrade is the way from the former version to this one, back, and here again, on real nodes of an
// OpenShift, whose pods write all the time.
package upgrade

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/e2e/node"
)

const description = "Upgrades under real nodes that write"

func TestUpgrade(t *testing.T) { node.Run(t, description) }

var _ = BeforeSuite(func(ctx SpecContext) { node.StartFormer(ctx) })

var _ = Describe(description, Ordered, ContinueOnFailure, func() {
	node.Constrained("test/e2e/node/openshift/scc.yaml")
	node.Upgraded()
	node.Admitted()
})
