// Package kubernetes is all that users do on real nodes of a Kubernetes without OpenShift.
package kubernetes

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/node"
)

const description = "Real nodes of a Kubernetes without OpenShift"

func TestKubernetes(t *testing.T) { node.Run(t, description) }

var _ = BeforeSuite(func(ctx SpecContext) { node.Start(ctx, embedded.Options{Plain: true, Mons: 3}) })

var _ = Describe(description, Ordered, ContinueOnFailure, func() {
	node.Installed((*fixture.Environment).InstallByReadme)
	node.Measured()
	node.Mounted()
	node.Told()
	node.Regrouped()
	node.Permitted()
	node.Pooled()
	node.Copied()
	node.Grouped()
	node.Shown()
	node.Expanded()
	node.Modified()
	node.Rotated()
	node.Disturbed()
	node.Outages()
	node.Silent()
	node.Removed()
	node.Uninstalled()
})
