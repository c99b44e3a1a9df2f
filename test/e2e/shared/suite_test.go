package shared

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// openShift is one of the clusters.
type openShift struct {
	*fixture.Environment
	infraID string
}

// one has the Ceph cluster beside it; other is told of it.
var one, other *openShift

func TestShared(t *testing.T) { fixture.Run(t, "Two OpenShift clusters on one Ceph cluster") }

var _ = BeforeSuite(func(ctx SpecContext) {
	one = &openShift{infraID: "one-a1b2c"}
	one.Environment = fixture.Start(ctx, embedded.Options{InfrastructureName: one.infraID})
	other = &openShift{infraID: "other-d3e4f"}
	other.Environment = fixture.Start(ctx, embedded.Options{InfrastructureName: other.infraID, WithoutCeph: true})
	other.KeepSecret(fixture.KeysOf(one.Cluster.Ceph().Keyring())...)
	for _, c := range both() {
		c.Declare(ctx, one.Credentials())
		for _, d := range driver.All {
			c.CreateDriver(ctx, d)
			c.StartOperator(ctx, d)
		}
		c.WithdrawSoon(ctx)
	}
	for _, c := range both() {
		c.Settle(ctx)
	}
})

func both() []*openShift { return []*openShift{one, other} }

var _ = Describe("Of two OpenShift clusters on one Ceph cluster,", Ordered, ContinueOnFailure, func() {
	Context("each", users)
	Context("each", files)
	Context("both", pools)
	Context("one and its copy, with one infra ID,", twins)
})
