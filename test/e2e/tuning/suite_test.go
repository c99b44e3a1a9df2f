// Package tuning changes what an administrator may change, and sees it followed. Each spec
// leaves the cluster as it found it.
package tuning

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const namespace = driver.Namespace

var env *fixture.Environment

func TestTuning(t *testing.T) { fixture.Run(t, "What administrators may change") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	env.Deploy(ctx)
})

var _ = BeforeEach(func(ctx SpecContext) { env.Settle(ctx) })
