package kubernetes

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var env *fixture.Environment

func TestKubernetes(t *testing.T) { fixture.Run(t, "A Kubernetes without OpenShift") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Plain: true})
	env.RunPods()
})

var _ = Describe("A Kubernetes without OpenShift", Ordered, func() {
	installed()
	described()
	certified()
	uninstalled()
	deleted()
})
