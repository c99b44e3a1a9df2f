package deploy

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	env *fixture.Environment
	// started is when the operators were, settled when they had nothing left to do.
	started, settled time.Time
)

func TestDeploy(t *testing.T) { fixture.Run(t, "From a Secret to two drivers") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	env.Declare(ctx, env.Credentials())
	for _, d := range driver.All {
		env.CreateDriver(ctx, d)
	}
	started = time.Now()
	for _, d := range driver.All {
		env.StartOperator(ctx, d)
	}
	env.Settle(ctx)
	env.Rest(ctx)
	settled = time.Now()
})
