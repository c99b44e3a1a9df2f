package faults

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

const (
	// firstFaults are those after which an operator has grown as large as its work makes it, manyFaults those that
	// are not to make it larger.
	firstFaults, manyFaults = 20, 200
	// growth is by how much memory at rest varies.
	growth = 1.1
)

// held has writes of one process of each operator fail many times, one after the other.
func held(ctx SpecContext) {
	if !sample.Soaking() || os.Getenv("ONLY") != "" {
		Skip("takes many minutes: make soak")
	}
	for _, d := range driver.All {
		begun := env.Operator(d).PID()
		strikeOften(ctx, d, firstFaults)
		before := memory(d)
		strikeOften(ctx, d, manyFaults)
		Eventually(func() float64 { return memory(d) }).WithContext(ctx).WithTimeout(fixture.RolloutPatience).WithPolling(time.Second).
			Should(BeNumerically("<", before*growth), "bytes, %.0f before", before)
		Expect(env.Operator(d).PID()).To(Equal(begun), "another process says nothing")
		AddReportEntry(fmt.Sprintf("%s: %.1f MB, %.1f MB after %d faults", d.Kind, before/1e6, memory(d)/1e6, manyFaults))
	}
}

// strikeOften returns at rest. No fault is waited for any longer than until it has happened.
func strikeOften(ctx context.Context, d driver.Driver, times int) {
	GinkgoHelper()
	quick := slices.DeleteFunc(slices.Clone(faults.OfAPI), func(f faults.Fault) bool { return f.Ends || f.View != faults.Present || f.Silent != "" })
	for n := range times {
		one := attempt{fault: quick[n%len(quick)], at: 1}
		arm(ctx, d, one)
		patch(ctx, d, "/spec/logLevel", []operatorv1.LogLevel{operatorv1.Debug, operatorv1.Normal}[n%2])
		Eventually(func() string { return hit(d, one) }).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(50*time.Millisecond).ShouldNot(BeEmpty(), one.String())
	}
	arm(ctx, d, attempt{})
	env.Settle(ctx)
	rest(ctx, begun)
}

var privateLine = regexp.MustCompile(`(?m)^RssAnon:\s+(\d+) kB$`)

// memory is what an operator's process shares with nobody, in bytes.
func memory(d driver.Driver) float64 {
	GinkgoHelper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", env.Operator(d).PID()))
	Expect(err).NotTo(HaveOccurred())
	found := privateLine.FindSubmatch(status)
	Expect(found).To(HaveLen(2), "no RssAnon in %s", status)
	kibibytes, err := strconv.ParseFloat(string(found[1]), 64)
	Expect(err).NotTo(HaveOccurred())
	return kibibytes * 1024
}
