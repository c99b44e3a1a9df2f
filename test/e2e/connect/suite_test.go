// Package connect goes through what can happen to the declaration of a Ceph cluster, from
// none at all, and to the Ceph cluster itself.
package connect

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

const namespace = driver.Namespace

var env *fixture.Environment

func TestConnect(t *testing.T) { fixture.Run(t, "Declaring a Ceph cluster") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Masters: 2, Workers: 1, Mons: 3, WithoutFilesystem: true})
	for _, d := range driver.All {
		env.CreateDriver(ctx, d)
		env.StartOperator(ctx, d)
	}
})

// One story, told in this order: the first chapters are of a cluster in which nothing has
// been deployed yet.
var _ = Describe("Connecting:", func() {
	Context("while no Ceph cluster is declared,", undeclared)
	Context("a wrong Secret", func() { wrongSecrets(false) })
	Context("the right Secret", declared)
	Context("once drivers are deployed, the Secret's other form", fields)
	Context("once drivers are deployed, a wrong Secret", func() { wrongSecrets(true) })
	Context("once drivers are deployed, a Secret that is deleted", deletedSecret)
	Context("once drivers are deployed, another Ceph cluster", anotherCluster)
	Context("once drivers are deployed, new mons", newMons)
	Context("once drivers are deployed, mons that are replaced", replacedMons)
	Context("once drivers are deployed, a Ceph that does not answer", outage)
	Context("once drivers are deployed, a Ceph that lost the quorum of its mons", quorum)
	Context("once drivers are deployed, a damaged Secret", damaged)
	Context("once drivers are deployed, the ConfigMap", outOfBand)
	Context("once drivers are deployed, a second Ceph cluster", second)
})
