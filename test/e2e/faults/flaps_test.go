package faults

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// allowed is how many more changes of a condition's status a fault may bring: to bad and back, and once more
// where the operator both ends and sees another cluster than there is.
func allowed(fault faults.Fault) int {
	if fault.Ends && fault.View != faults.Present {
		return 4
	}
	return 2
}

// flaps are how often the status of each condition of a driver has changed since a moment.
func flaps(d driver.Driver, since time.Time) map[string]int {
	last, out := map[string]string{}, map[string]int{}
	for _, v := range env.History.Of(func(v fixture.Version) bool {
		return v.Object.GetKind() == "ClusterCSIDriver" && v.Object.GetName() == d.Name
	}) {
		conditions, _, err := unstructured.NestedSlice(v.Object.Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		for _, c := range conditions {
			kind, status := fmt.Sprint(c.(map[string]any)["type"]), fmt.Sprint(c.(map[string]any)["status"])
			if before, known := last[kind]; known && before != status && v.At.After(since) {
				out[kind]++
			}
			last[kind] = status
		}
	}
	return out
}

// flapping are sentences on conditions that changed more often than without the fault.
func flapping(now, undisturbed map[string]int, allowed int) []string {
	var out []string
	for kind, n := range now {
		if n > undisturbed[kind]+allowed {
			out = append(out, fmt.Sprintf("condition %s changed %d times, without the fault %d times", kind, n, undisturbed[kind]))
		}
	}
	slices.Sort(out)
	return out
}
