// Package check runs the preflight check, as it is built, on a real Ceph and a real API server
// in which nothing has been deployed yet.
package check

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
)

var (
	env    *fixture.Environment
	binary string
)

func TestCheck(t *testing.T) { fixture.Run(t, "Checking before an installation") }

var _ = BeforeSuite(func(ctx SpecContext) {
	var err error
	binary, err = operatorprocess.Binary()
	Expect(err).NotTo(HaveOccurred())
	env = fixture.Start(ctx, embedded.Options{Mons: 3})
	Expect(env.Cluster.Ceph().CreatePool(ctx, "vms", "rbd")).To(Succeed())
	env.StartSnapshotController(ctx)
})

// Told in this order: the last chapters break what the first ones need.
var _ = Describe("Checking:", Ordered, ContinueOnFailure, func() {
	Context("on the command line,", commandLine)
	Context("with nothing wrong,", nothingWrong)
	Context("with --watch, it", watching)
	Context("of the user", users)
	Context("of the Kubernetes cluster", kubernetesCluster)
	Context("of Ceph", brokenCeph)
})
