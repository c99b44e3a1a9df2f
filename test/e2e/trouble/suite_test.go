package trouble

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const namespace = driver.Namespace

var env *fixture.Environment

func TestTrouble(t *testing.T) { fixture.Run(t, "Trouble") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	env.Declare(ctx, env.Credentials())
	for _, d := range driver.All {
		env.CreateDriver(ctx, d)
	}
})

// The first chapter starts with a cluster in which no operator has run; each of the others
// finds both drivers deployed and leaves them so.
var _ = Describe("An operator", func() {
	Context("that is killed while it deploys", killedWhileDeploying)
	Context("that is killed", killed)
	Context("that is terminated", terminated)
	Context("whose ClusterCSIDriver is deleted", recreated)
	Context("that finds objects of its names that are not its own", foreign)
})
