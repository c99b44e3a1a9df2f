package pools

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// infraID is that of the OpenShift cluster.
const infraID = embedded.DefaultInfrastructureName

var env *fixture.Environment

func TestPools(t *testing.T) { fixture.Run(t, "Pools in use") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Masters: 2, Workers: 1})
	env.Declare(ctx, env.Credentials())
	ceph(ctx, "config", "set", "mon", "mon_allow_pool_delete", "true")
	for _, d := range driver.All {
		createForeign(ctx, d)
		env.CreateDriver(ctx, d)
		env.StartOperator(ctx, d)
	}
	env.WithdrawSoon(ctx)
})

// The first chapter starts beside somebody else's drivers and ends with ours deployed; the
// others find them so.
var _ = Describe("Pools", Ordered, ContinueOnFailure, func() {
	Context("beside somebody else's driver", foreign)
	Context("in use", inUse)
	Context("of several users", shared)
	Context("of filesystems", filesystems)
	Context("that StorageClasses name", named)
	Context("that StorageClasses name and that", missing)
	Context("of older volumes", legacy)
	Context("of other CSI drivers", others)
	Context("in use", denied)
	Context("of a cluster whose etcd was restored from a backup", restored)
})
