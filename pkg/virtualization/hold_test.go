package virtualization

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestPoliciesAreWatchedUntilTheyAreGone: when the CRDs of images go, the policies are still to be
// removed.
func TestPoliciesAreWatchedUntilTheyAreGone(t *testing.T) {
	r := newGateRig(t)
	r.expect(t, "nobody brings images", policies, absent)
	r.served[dataSources.String()] = []string{"v1beta1"}
	r.expect(t, "CDI does", policies, ready)
	client := r.client.Resource(policies.WithVersion(policies.version))
	policy := ownObject(driver.RBD, "admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", imageKinds[1].policy(driver.RBD))
	if _, err := client.Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await := func(reason string, count int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); len(r.config.Watches.list(policies)) != count; {
			if time.Now().After(end) {
				t.Fatal(reason)
			}
		}
	}
	await("the policy is not seen", 1)
	delete(r.served, dataSources.String())
	r.expect(t, "a policy is left", policies, ready)
	r.expect(t, "nothing is left of the other kind", bindings, absent)
	if err := client.Delete(t.Context(), policy.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await("the policy is still seen", 0)
	r.expect(t, "nothing is left", policies, absent)
}
