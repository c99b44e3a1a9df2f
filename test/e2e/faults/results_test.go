package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
	"github.com/openshift/ceph-csi-driver-operator/test/sample"
)

// table counts what was tried and what went wrong, by change and fault. A fault that found no write to happen at
// was not tried.
type table struct {
	changes []string
	tried   map[string]int
	failed  map[string]int
}

var results = table{tried: map[string]int{}, failed: map[string]int{}}

// begin counts an attempt as failed until end is called, which says whether the fault has happened.
func (t *table) begin(change string, fault faults.Fault) (end func(happened bool)) {
	if len(t.changes) == 0 || t.changes[len(t.changes)-1] != change {
		t.changes = append(t.changes, change)
	}
	cell := change + fault.Name
	t.tried[cell]++
	t.failed[cell]++
	return func(happened bool) {
		t.failed[cell]--
		if !happened {
			t.tried[cell]--
		}
	}
}

func (t *table) String() string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "tried, failed")
	for _, f := range faults.All {
		fmt.Fprint(w, "\t", f.Name)
	}
	for _, c := range t.changes {
		fmt.Fprint(w, "\n", c)
		for _, f := range faults.All {
			fmt.Fprintf(w, "\t%d, %d", t.tried[c+f.Name], t.failed[c+f.Name])
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush()
	return out.String()
}

var _ = ReportAfterSuite("results", func(SpecContext, Report) {
	text := fmt.Sprintf("SEED=%d\n%s", sample.Seed(), results.String())
	fmt.Print(text)
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(root, "bin", "faults.txt"), []byte(text), 0o644)).To(Succeed())
})
