// Package faults breaks the operators' writes one by one, and expects that all ends as without the fault.
package faults

import (
	"context"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/operatorprocess"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

var (
	env     *fixture.Environment
	proxies = map[string]*faults.Proxy{}
	calls   = map[string]*faults.Calls{}
)

func TestFaults(t *testing.T) { fixture.Run(t, "Writes that fail") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{Masters: 2, Workers: 1})
	certificate, key := env.Cluster.ServingFiles()
	createReplacement(ctx)
	for _, d := range driver.All {
		application := map[string]string{driver.RBD.Name: "rbd", driver.CephFS.Name: "cephfs"}[d.Name]
		Expect(env.Cluster.Ceph().CreatePool(ctx, another(d), application)).To(Succeed())
	}
	_, err := env.Cluster.Ceph().Command(ctx, "fs", "add_data_pool", cephdaemons.Filesystem, another(driver.CephFS))
	Expect(err).NotTo(HaveOccurred())
	Expect(env.Cluster.Ceph().Load(ctx, another(driver.RBD))).To(Succeed())
	csi, err = volumes.Open(env.Cluster.Ceph().ConfFile(), env.Cluster.Ceph().KeyringFile())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		if unanswered.Load() == 0 {
			csi.Close()
		}
	})
	createNeighbour(ctx)
	untouched = inCeph(ctx)
	for _, d := range driver.All {
		proxies[d.Name], err = faults.Start(env.Cluster.AdminConfig(), certificate, key)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(proxies[d.Name].Stop)
		calls[d.Name], err = faults.Preload(filepath.Join(env.Cluster.Dir(), "calls", d.Kind))
		Expect(err).NotTo(HaveOccurred())
		start(ctx, d, env.Program())
	}
	if sample.Soaking() {
		results.resume()
	}
})

// deploy has both drivers run, with volumes.
func deploy(ctx SpecContext) {
	env.Declare(ctx, env.Credentials())
	for _, d := range driver.All {
		env.CreateDriver(ctx, d)
		configure(ctx, d, nil)
	}
	env.Settle(ctx)
	createVolumes(ctx)
	env.Rest(ctx)
	learnNeeds(ctx)
}

// start runs a version of a driver's operator behind what breaks its writes.
func start(ctx context.Context, d driver.Driver, program string) {
	GinkgoHelper()
	env.StartOperatorWith(ctx, d, func(c *operatorprocess.Config) {
		c.Binary, c.APIServer, c.Node = program, proxies[d.Name].URL(), calls[d.Name].Node()
		calls[d.Name].Into(c.Pod)
	})
}

// `make test` tries a change of one driver with some faults; `make soak` tries all.
const (
	sampledChanges = 1
	sampledFaults  = 2
	// slowDays is how often changes are tried that take minutes.
	slowDays = 5
)

var _ = Describe("A write that fails", Ordered, ContinueOnFailure, func() {
	random, tried, specs := sample.Random(0), 0, part{}
	try := func(d driver.Driver, c change) {
		if !specs.next() {
			return
		}
		tried++
		It("changes nothing of how it ends: "+c.name, func(ctx SpecContext) {
			Expect(tryAll(ctx, d, c, random)).To(BeEmpty())
		})
	}
	BeforeAll(func() { share = startShares(tried) })

	all := drivers(random)
	if sample.Soaking() || random.IntN(slowDays) == 0 {
		for _, d := range all {
			try(d, installed(d))
		}
	}

	Context("of drivers with volumes", func() {
		BeforeAll(deploy)

		for _, d := range all {
			for _, c := range some(d, random) {
				try(d, c)
			}
		}

		if specs.next() {
			It("is not made where a volume is that the operator has not been told of", unseen)
		}

		if specs.next() {
			It("leaves no memory taken", held)
		}

		It("leaves nothing to write", func(ctx SpecContext) {
			env.Settle(ctx)
			env.Rest(ctx)
			inKubernetes.ExpectUntouched(ctx)
		})

		if specs.next() {
			It("changes nothing of how `uninstall` ends that is run again", uninstalled)
		}
	})
})
