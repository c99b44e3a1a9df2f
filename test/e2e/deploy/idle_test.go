package deploy

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

// quiet is how long nobody touches the cluster; the other specs of this suite read only, so
// they may run meanwhile.
const quiet = 3 * time.Minute

var _ = Describe("An idle operator", func() {
	It("writes nothing but its lease, and asks for next to nothing", func(ctx SpecContext) {
		Eventually(time.Since).WithArguments(settled).WithContext(ctx).WithTimeout(2 * quiet).WithPolling(time.Second).
			Should(BeNumerically(">=", quiet))
		for _, d := range driver.All {
			requests := env.Requests(d, settled)
			Expect(fixture.Lines(fixture.Writes(requests))).To(BeEmpty(), d.OperatorName())
			var reads []auditv1.Event
			for _, r := range requests {
				if r.Verb != "watch" && r.ObjectRef != nil && r.ObjectRef.Resource != "leases" {
					reads = append(reads, r)
				}
			}
			rate := float64(len(reads)) / time.Since(settled).Seconds()
			AddReportEntry(fmt.Sprintf("%s: %.3f requests per second beyond lease and watches", d.OperatorName(), rate))
			Expect(rate).To(BeNumerically("<=", 0.1), "%v", fixture.Lines(reads))
		}
	})
})
