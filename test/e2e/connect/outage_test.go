package connect

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

func outage() {
	It("is reported and writes nothing but conditions for a while, nor after a restart, and passes by itself", func(ctx SpecContext) {
		const while = time.Minute
		ceph := env.Cluster.Ceph()
		env.Rest(ctx)
		before := deployed(ctx)
		DeferCleanup(ceph.Resume)
		begin := time.Now()
		Expect(ceph.Pause()).To(Succeed())
		for _, d := range driver.All {
			complains(ctx, d, "CephUnreachable", ceph.FSID())
		}
		AddReportEntry(fmt.Sprintf("reported after %.1f s", time.Since(begin).Seconds()))
		Eventually(time.Since).WithArguments(begin).WithContext(ctx).WithTimeout(2 * while).Should(BeNumerically(">", while))
		for _, d := range driver.All {
			writes := slices.DeleteFunc(fixture.Writes(env.Requests(d, begin)), func(r auditv1.Event) bool {
				return r.ObjectRef != nil && (r.ObjectRef.Subresource == "status" || r.ObjectRef.Resource == "events" || isStatus(r, d))
			})
			Expect(fixture.Lines(writes)).To(BeEmpty(), d.Name)
		}
		Expect(deployed(ctx)).To(Equal(before))

		restartAll(ctx, "CephUnreachable")
		Expect(deployed(ctx)).To(Equal(before))

		Expect(ceph.Resume()).To(Succeed())
		begin = time.Now()
		for _, d := range driver.All {
			Eventually(func(g Gomega) {
				g.Expect(env.Condition(ctx, g, d, connectionDegraded).Status).To(Equal(operatorv1.ConditionFalse))
			}).WithContext(ctx).Should(Succeed())
		}
		AddReportEntry(fmt.Sprintf("recovered after %.1f s", time.Since(begin).Seconds()))
		env.Settle(ctx)
		Expect(deployed(ctx)).To(Equal(before))
	})
}

// isStatus says whether a request is about the ConfigMap that is for people.
func isStatus(r auditv1.Event, d driver.Driver) bool {
	return r.ObjectRef.Name == d.StatusConfigMap()
}
