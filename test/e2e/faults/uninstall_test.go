package faults

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// untouched is Ceph before any operator has run.
var untouched state

// mostRuns is more than an uninstallation has writes, each of which meets several faults.
const mostRuns = 1000

// What `uninstall` does not try again itself ends a run.
var (
	ofCeph = []faults.Fault{faultNamed("Ceph: killed before"), faultNamed("Ceph: killed after"), faultNamed("Ceph: answer lost"), faultNamed("Ceph: denied"), faultNamed("Ceph: busy"), faultNamed("Ceph: try again")}
	ofAPI  = []faults.Fault{faultNamed("killed after"), faultNamed("answer lost"), faultNamed("killed before"), faultNamed("request lost"), faultNamed("forbidden")}
)

func faultNamed(name string) faults.Fault {
	return faults.All[slices.IndexFunc(faults.All, func(f faults.Fault) bool { return f.Name == name })]
}

// stride is how far each run of `uninstall` gets: in a soak, each of its writes is its last one once.
func stride() int { return sample.Stride(16) }

// uninstalled runs the command again and again, with a fault soon after the begin of each run, until one
// has nothing to do any more that a fault could happen at.
func uninstalled(ctx SpecContext) {
	if only := os.Getenv("ONLY"); only != "" && !regexp.MustCompile(only).MatchString("uninstall") {
		Skip("ONLY=" + only)
	}
	for _, d := range driver.All {
		env.StopOperator(ctx, d)
	}
	deleteVolumes(ctx)
	before := dumpVolumes(Default)
	c, stays := prepare(ctx), maps.Clone(untouched)
	for what := range inCeph(ctx) {
		if strings.HasPrefix(what, "pool ") && untouched[what] == "" {
			stays[what] = untouched["pool "+another(driver.RBD)] // The operator's own pool is as any.
		}
	}
	// What is done in Ceph comes first, and is done again, so the writes are counted on.
	for i, at := 0, 1; ; i, at = i+1, at+stride() {
		f := ofCeph[i%len(ofCeph)]
		atAPI, atCeph := c.run(ctx, attempt{fault: faultNamed("killed before"), at: 1}, attempt{fault: f, at: at})
		if atCeph == "" {
			Expect(atAPI).NotTo(BeEmpty())
			break
		}
	}
	for i := 0; ; i++ {
		Expect(i).To(BeNumerically("<", mostRuns), "it never ends")
		atAPI, _ := c.run(ctx, attempt{fault: ofAPI[i%len(ofAPI)], at: stride()}, attempt{})
		if atAPI == "" {
			break
		}
	}
	Eventually(func(g Gomega) {
		g.Expect(slices.DeleteFunc(env.LeftOvers(ctx, g), func(o string) bool {
			return strings.HasPrefix(o, "ClusterRole /openshift-csi-") || strings.Contains(o, neighbour)
		})).To(BeEmpty())
		g.Expect(inCeph(ctx).differences(stays)).To(BeEmpty())
		g.Expect(before.Changes(dumpVolumes(g))).To(BeEmpty())
		inKubernetes.ExpectUntouched(ctx)
	}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(fixture.CephPolling).Should(Succeed())
}

// commandOf runs `uninstall` as an administrator.
type commandOf struct {
	proxy      *faults.Proxy
	calls      *faults.Calls
	kubeconfig string
}

func prepare(ctx context.Context) commandOf {
	GinkgoHelper()
	certificate, key := env.Cluster.ServingFiles()
	proxy, err := faults.Start(env.Cluster.AdminConfig(), certificate, key)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(proxy.Stop)
	calls, err := faults.Preload(filepath.Join(env.Cluster.Dir(), "calls", "uninstall"))
	Expect(err).NotTo(HaveOccurred())
	return commandOf{proxy: proxy, calls: calls, kubeconfig: env.Administrator(ctx, proxy.URL())}
}

// run returns the writes that the faults have happened at, if any. Without one, the command succeeds.
func (c commandOf) run(ctx context.Context, api, ceph attempt) (atAPI, atCeph string) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, fixture.RolloutPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, env.Program(), "uninstall", "--yes", "--kubeconfig="+c.kubeconfig)
	cmd.Dir, cmd.Env = filepath.Dir(env.Program()), c.calls.Environment()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	started, ended := make(chan struct{}), make(chan struct{})
	c.proxy.Arm(api.fault, api.at, "", func() {
		<-started
		_ = cmd.Process.Kill()
		<-ended
	})
	Expect(c.calls.Arm(ceph.fault, ceph.at)).To(Succeed())
	Expect(cmd.Start()).To(Succeed())
	close(started)
	failed := cmd.Wait()
	close(ended)
	Expect(ctx.Err()).NotTo(HaveOccurred(), "it does not end: %s", &out)
	Expect(env.HoldsKey(out.Bytes())).To(BeFalse(), "a key is shown")
	toCeph, err := c.calls.Writes()
	Expect(err).NotTo(HaveOccurred())
	Expect(trespasses(append(toCeph, c.proxy.Writes()...)...)).To(BeEmpty(), "the neighbour's")
	atCeph, err = c.calls.Hit()
	Expect(err).NotTo(HaveOccurred())
	atAPI = c.proxy.Hit()
	what := fmt.Sprintf("%s: %s, %s: %s: %v", api, atAPI, ceph, atCeph, failed)
	AddReportEntry(what, out.String(), ReportEntryVisibilityFailureOrVerbose)
	if atAPI == "" && atCeph == "" {
		Expect(failed).NotTo(HaveOccurred(), "without a fault: %s", &out)
	}
	for _, one := range []struct {
		attempt
		hit string
	}{{api, atAPI}, {ceph, atCeph}} {
		if one.hit != "" {
			results.begin("uninstall", mostRuns, 0)
			results.note(key("uninstall", one.attempt)+" "+one.hit, outcome{Change: "uninstall", Fault: one.fault.Name, Hit: one.hit})
		}
	}
	return atAPI, atCeph
}
