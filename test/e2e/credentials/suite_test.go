package credentials

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const (
	namespace = driver.Namespace
	infraID   = embedded.DefaultInfrastructureName
	ownPool   = infraID + "-rbd"
	// stranger is a user of another OpenShift cluster in the same Ceph cluster.
	stranger = "csi-rbd-node.another-cluster"
)

var env *fixture.Environment

func TestCredentials(t *testing.T) { fixture.Run(t, "The drivers' Ceph users") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	for _, pool := range []string{"fast", "forbidden"} {
		ceph(ctx, "osd", "pool", "create", pool)
	}
	ceph(ctx, "auth", "get-or-create", "client."+stranger, "mon", "allow r")
	env.Deploy(ctx)
	env.WithdrawSoon(ctx)
})

// One story, told in this order.
var _ = Describe("The drivers' Ceph users", Ordered, func() {
	Context("while the operator may make them,", minted)
	Context("when somebody changes them,", changed)
	Context("in other modes,", modes)
	Context("with keys of another type,", keyTypes)
})
