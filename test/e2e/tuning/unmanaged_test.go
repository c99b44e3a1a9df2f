package tuning

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
)

var _ = Describe("managementState Unmanaged", func() {
	manage := func(ctx context.Context, d driver.Driver, state operatorv1.ManagementState) {
		env.Tune(ctx, d, func(spec *operatorv1.ClusterCSIDriverSpec) { spec.ManagementState = state })
	}

	for _, d := range driver.All {
		It("leaves every edit alone, until Managed undoes them: "+d.Name, func(ctx SpecContext) {
			DeferCleanup(manage, d, operatorv1.Managed)
			manage(ctx, d, operatorv1.Unmanaged)
			canary := edits()[0]
			before := map[string]*unstructured.Unstructured{}
			// Until the operator has seen the new state, it undoes the first edit.
			Eventually(func(g Gomega) {
				before[canary.what] = canary.apply(ctx, d)
				g.Consistently(canary.restored).WithArguments(ctx, d, before[canary.what]).
					WithContext(ctx).WithTimeout(fixture.Undisturbed).ShouldNot(Succeed())
			}).WithContext(ctx).Should(Succeed())

			begin := time.Now()
			for _, e := range edits()[1:] {
				// What is deleted last may have been changed before.
				if earlier := sameObject(e, d, before); earlier == nil {
					before[e.what] = e.apply(ctx, d)
				}
			}
			for _, e := range edits() {
				if before[e.what] != nil {
					Consistently(e.restored).WithArguments(ctx, d, before[e.what]).
						WithContext(ctx).WithTimeout(fixture.Undisturbed/time.Duration(len(before))).ShouldNot(Succeed(), e.what)
				}
			}
			Expect(fixture.Lines(outsideStatus(fixture.Writes(env.Requests(d, begin))))).To(BeEmpty())

			manage(ctx, d, operatorv1.Managed)
			for _, e := range edits() {
				if before[e.what] != nil {
					Eventually(e.restored).WithArguments(ctx, d, before[e.what]).
						WithContext(ctx).WithTimeout(fixture.Soon).Should(Succeed(), e.what)
				}
			}
		})
	}
})

// sameObject is what was edited already, if that was the same object.
func sameObject(e edit, d driver.Driver, before map[string]*unstructured.Unstructured) *unstructured.Unstructured {
	for _, other := range edits() {
		if other.resource == e.resource && other.object(d) == e.object(d) && before[other.what] != nil {
			return before[other.what]
		}
	}
	return nil
}

// outsideStatus leaves out conditions and events, which an operator may always write.
func outsideStatus(writes []auditv1.Event) []auditv1.Event {
	return slices.DeleteFunc(writes, func(r auditv1.Event) bool {
		return r.ObjectRef != nil && (r.ObjectRef.Resource == "events" ||
			r.ObjectRef.Resource == "clustercsidrivers" && r.ObjectRef.Subresource == "status")
	})
}
