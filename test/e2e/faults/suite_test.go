// Package faults breaks the operators' writes one by one, and expects that all ends as without the fault.
package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
)

var (
	env     *fixture.Environment
	proxies = map[string]*faults.Proxy{}
	calls   = map[string]*faults.Calls{}
)

func TestFaults(t *testing.T) { fixture.Run(t, "Writes that fail") }

var _ = BeforeSuite(func(ctx SpecContext) {
	env = fixture.Start(ctx, embedded.Options{})
	certificate, key := env.Cluster.ServingFiles()
	createReplacement(ctx)
	for _, d := range driver.All {
		application := map[string]string{driver.RBD.Name: "rbd", driver.CephFS.Name: "cephfs"}[d.Name]
		Expect(env.Cluster.Ceph().CreatePool(ctx, another(d), application)).To(Succeed())
	}
	_, err := env.Cluster.Ceph().Command(ctx, "fs", "add_data_pool", cephdaemons.Filesystem, another(driver.CephFS))
	Expect(err).NotTo(HaveOccurred())
	untouched = inCeph(ctx)
	env.Declare(ctx, env.Credentials())
	for _, d := range driver.All {
		proxies[d.Name], err = faults.Start(env.Cluster.AdminConfig(), certificate, key)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(proxies[d.Name].Stop)
		calls[d.Name], err = faults.Preload(filepath.Join(env.Cluster.Dir(), "calls", d.Kind))
		Expect(err).NotTo(HaveOccurred())
		env.CreateDriver(ctx, d)
		configure(ctx, d, nil)
		env.StartOperatorWith(ctx, d, func(c *operatorprocess.Config) {
			c.APIServer, c.Node = proxies[d.Name].URL(), calls[d.Name].Node()
			calls[d.Name].Into(c.Pod)
		})
	}
	env.Settle(ctx)
	env.Rest(ctx)
})

// `make test` tries some changes of one driver, each with some faults; `make soak` tries all.
const (
	sampledChanges = 3
	sampledFaults  = 2
)

var _ = Describe("A write that fails", Ordered, ContinueOnFailure, func() {
	random := sample.Random(0)
	for _, d := range drivers(random) {
		for _, c := range sample.Of(changes(d), sampledChanges, random) {
			It("changes nothing of how it ends: "+c.name, func(ctx SpecContext) {
				undisturbed := learn(ctx, d, c)
				var wrong []string
				for _, one := range chosen(c.name, undisturbed.cases(), random) {
					if ctx.Err() != nil {
						break // Somebody has ended the suite.
					}
					wrong = append(wrong, try(ctx, d, c, undisturbed, one)...)
				}
				Expect(wrong).To(BeEmpty())
			})
		}
	}

	It("leaves nothing to write", func(ctx SpecContext) {
		env.Settle(ctx)
		env.Rest(ctx)
	})

	It("changes nothing of how `uninstall` ends that is run again", uninstalled)
})

// try is what was wrong with an attempt. Those that follow begin where it has led to.
func try(ctx context.Context, d driver.Driver, c change, undisturbed learned, one attempt) []string {
	GinkgoHelper()
	end, what := results.begin(c.name, one.fault), ""
	failures := InterceptGomegaFailures(func() { what = undisturbed.expectSame(ctx, d, c, one) })
	if len(failures) == 0 {
		end(what != "")
		return nil
	}
	out := fmt.Sprintf("%s: %s, %s:\n%s", c.name, one, what, strings.Join(failures, "\n"))
	fmt.Println(out) // A soak goes on for hours.
	return []string{out}
}

// drivers are one of both for a sample, and both with SOAK.
func drivers(random *rand.Rand) []driver.Driver {
	if sample.Soaking() {
		return driver.All
	}
	return driver.All[random.IntN(len(driver.All)):][:1]
}

// chosen are those that ONLY, a regular expression, finds, a sample, or with SOAK all.
func chosen(change string, all []attempt, random *rand.Rand) []attempt {
	if only := os.Getenv("ONLY"); only != "" {
		wanted := regexp.MustCompile(only)
		return slices.DeleteFunc(all, func(a attempt) bool { return !wanted.MatchString(change + ": " + a.String()) })
	}
	return sample.Of(all, sampledFaults, random)
}
