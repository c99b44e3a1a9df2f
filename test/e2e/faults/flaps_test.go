package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/e2e/fixture"
	"github.com/openshift/ceph-csi-driver-operator/test/faults"
)

// allowed is how many more changes of a condition's status a fault may bring to a change of so many writes: to bad and
// back, once more where the operator both ends and sees another cluster than there is, and each time that it ends.
func allowed(fault faults.Fault, writes int) int {
	switch {
	case fault.Ends && fault.View != faults.Present:
		return 4
	case fault.Each > 0:
		return 2 * (writes/fault.Each + 1)
	}
	return 2
}

// flaps are the changes of the status of each condition of a driver since a moment.
func flaps(d driver.Driver, since time.Time) map[string][]string {
	last, out := map[string]string{}, map[string][]string{}
	for _, v := range env.History.Of(func(v fixture.Version) bool {
		return v.Object.GetKind() == "ClusterCSIDriver" && v.Object.GetName() == d.Name
	}) {
		conditions, _, err := unstructured.NestedSlice(v.Object.Object, "status", "conditions")
		Expect(err).NotTo(HaveOccurred())
		for _, c := range conditions {
			kind, status := fmt.Sprint(c.(map[string]any)["type"]), fmt.Sprint(c.(map[string]any)["status"])
			if before, known := last[kind]; known && before != status && v.At.After(since) {
				out[kind] = append(out[kind], fmt.Sprintf("%s %s: %v", v.At.Format("15:04:05.000"), status, c.(map[string]any)["message"]))
			}
			last[kind] = status
		}
	}
	return out
}

// flapping are sentences on conditions that changed more often than without the fault.
func flapping(now, undisturbed map[string][]string, allowed int) []string {
	var out []string
	for kind, changes := range now {
		if usual := len(undisturbed[kind]); len(changes) > usual+allowed {
			out = append(out, fmt.Sprintf("condition %s changed %d times, without the fault %d times:\n%s", kind, len(changes), usual, strings.Join(changes, "\n")))
		}
	}
	slices.Sort(out)
	return out
}
