package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// figure notes how long something took that ends now, and prints it.
func figure(what string, begin time.Time) { took(what, time.Since(begin)) }

func took(what string, d time.Duration) { note(fmt.Sprintf("%5.1f s  %s", d.Seconds(), what)) }

// note keeps a line among the figures, and prints it.
func note(entry string) {
	GinkgoWriter.Println("FIGURE", entry)
	AddReportEntry(entry, ReportEntryVisibilityNever)
}

// The figures of all specs are left where make test finds them: `go test` prints nothing of what passes.
var _ = ReportAfterSuite("figures", func(report Report) {
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	var out strings.Builder
	fmt.Fprintln(&out, report.SuiteDescription)
	for _, spec := range report.SpecReports {
		what := spec.LeafNodeText
		if spec.LeafNodeType == types.NodeTypeBeforeSuite {
			what = "starts a cluster with real nodes"
		}
		if what == "" {
			continue
		}
		fmt.Fprintf(&out, "%-7s %5.1f s  %s\n", spec.State, spec.RunTime.Seconds(), what)
		for _, entry := range spec.ReportEntries {
			fmt.Fprintf(&out, "          %s\n", entry.Name)
		}
	}
	folder := filepath.Join(root, "bin", "figures")
	Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(folder, "node-"+filepath.Base(report.SuitePath)), []byte(out.String()), 0o644)).To(Succeed())
})
