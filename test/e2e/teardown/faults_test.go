package teardown

import (
	"fmt"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// mostRuns is more than the removal of a few volumes has writes, each of which meets several faults.
const mostRuns = 2000

func calls() {
	// What is killed while it has a filesystem mounted keeps the next run waiting for a minute.
	images := []row{imageRows[0], imageRows[4], imageRows[8], imageRows[10]}

	It("goes on after a kill before or after its writes to Ceph", func(ctx SpecContext) {
		again(ctx, "at-writes", images, slices.DeleteFunc(slices.Clone(faults.OfCeph), func(f faults.Fault) bool { return !f.Ends || f.Each > 0 }), stride())
	})

	It("goes on after writes that Ceph refuses, or whose answers are lost", func(ctx SpecContext) {
		for _, f := range faults.OfCeph {
			if f.Ends || f.Call == faults.Hanging || f.Call == faults.Belated {
				continue
			}
			for at := stride(); ; at += 5 {
				happened := again(ctx, fmt.Sprintf("refused-%d-%s-%d", f.Number, f.Call, at), append(shown, images...), []faults.Fault{f}, at)
				if happened == 0 || !sample.Soaking() {
					break
				}
			}
		}
	})
}

// stride is how far the first run gets, and how far each that is killed gets: in a soak, each of their writes is the last one once.
func stride() int { return sample.Stride(10) }

// intoRecords is more than what a run writes into records before it removes anything: of runs that all end there, none
// goes on.
const intoRecords = 4

// again tears a cluster down, again and again, with each fault at that write and at those right after it, until a run
// has nothing to do any more that a fault could happen at. It returns how many have happened.
func again(ctx SpecContext, name string, rows []row, all []faults.Fault, at int) (happened int) {
	GinkgoHelper()
	c, bystander := ceph.Cluster(name, 1), ceph.Cluster("beside-"+name, 2)
	together(append(rowsOf(c, rows), rowsOf(bystander, rows)...)...)
	before := dump()
	preloaded, err := faults.Preload(filepath.Join(GinkgoT().TempDir(), "calls"))
	Expect(err).NotTo(HaveOccurred())
	for i := 0; ; i++ {
		Expect(i).To(BeNumerically("<", mostRuns), "it never ends")
		fault, write := all[i%len(all)], at+i/len(all)%intoRecords
		Expect(preloaded.Arm(fault, write)).To(Succeed())
		cmd := command(ctx, "--infra-id="+c.InfraID, "--yes")
		cmd.Env = append(cmd.Env, preloaded.Environment()...)
		out, err := cmd.CombinedOutput()
		hit, problem := preloaded.Hit()
		Expect(problem).NotTo(HaveOccurred())
		AddReportEntry(fmt.Sprintf("%s at write %d, %s: %v", fault.Name, write, hit, err), string(out), ReportEntryVisibilityFailureOrVerbose)
		if hit != "" {
			happened++
		} else if err == nil {
			break
		}
	}
	after := dump()
	expectNothingOf(after, c)
	Expect(changes(before.Without(c.Words()...), after.Without(c.Words()...))).To(BeEmpty())
	return happened
}
