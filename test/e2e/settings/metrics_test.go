package settings

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var (
	metricRow = regexp.MustCompile("(?m)^\\| `(ceph_csi_driver_operator_\\w+)` \\| ([^|]*)\\| (.*) \\|$")
	quoted    = regexp.MustCompile("`(\\w+)`")
	// sometimes is what a row says of a metric that not every cluster has.
	sometimes = regexp.MustCompile(`only where|absent until`)
	label     = regexp.MustCompile(`(\w+)="[^"]*"`)
)

// explained are the labels of the metrics that the page about them has, sorted, and which of them every
// operator serves.
func explained() (labels map[string][]string, always []string) {
	GinkgoHelper()
	root, err := repository.Root()
	Expect(err).NotTo(HaveOccurred())
	page, err := os.ReadFile(filepath.Join(root, "pkg", "status", "README.md"))
	Expect(err).NotTo(HaveOccurred())
	labels = map[string][]string{}
	for _, row := range metricRow.FindAllStringSubmatch(string(page), -1) {
		labels[row[1]] = firsts(quoted, row[2])
		if !sometimes.MatchString(row[3]) {
			always = append(always, row[1])
		}
	}
	Expect(len(always)).To(BeNumerically(">", 8))
	return labels, always
}

func firsts(pattern *regexp.Regexp, text string) []string {
	out := []string{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		out = append(out, match[1])
	}
	slices.Sort(out)
	return out
}

// measured are the labels of the operator's own metrics in what it serves.
func measured(text string) map[string][]string {
	out := map[string][]string{}
	for _, line := range ownMetric.FindAllString(text, -1) {
		name, _, _ := strings.Cut(line, " ")
		name, labels, _ := strings.Cut(name, "{")
		out[name] = firsts(label, labels)
	}
	return out
}

var _ = Describe("The page about metrics", func() {
	It("has each one that an operator serves, with its labels, and no other", func(ctx SpecContext) {
		token := env.Scraper(ctx)
		labels, always := explained()
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				_, text := env.Metrics(ctx, g, d, token)
				seen := measured(text)
				g.Expect(slices.Collect(maps.Keys(seen))).To(ContainElements(always), "explained, and not served")
				for name, has := range seen {
					g.Expect(labels).To(HaveKeyWithValue(name, has), "served by the operator of %s", d.Name)
				}
			}).WithContext(ctx).WithTimeout(fixture.Patience).WithPolling(time.Second).Should(Succeed())
		}
	})
})
