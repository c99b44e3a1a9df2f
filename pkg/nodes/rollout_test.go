package nodes

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

func TestOnlyAway(t *testing.T) {
	away, crashing := Unserved{Node: "a", Away: true}, Unserved{Node: "b"}
	for name, tc := range map[string]struct {
		reason   string
		observed int64
		updated  int32
		unserved []Unserved
		want     bool
	}{
		"Away":     {"the pod there is replaced when the node is back", 2, 7, []Unserved{away}, true},
		"NotSeen":  {"the change has not been acted on", 1, 7, []Unserved{away}, false},
		"Rolling":  {"another pod is old, too", 2, 6, []Unserved{away}, false},
		"Crashing": {"the new version does not start", 2, 8, []Unserved{away, crashing}, false},
		"Done":     {"library-go sees that itself", 2, 8, nil, false},
	} {
		d := &appsv1.DaemonSet{}
		d.Generation = 2
		d.Status = appsv1.DaemonSetStatus{ObservedGeneration: tc.observed, DesiredNumberScheduled: 8, UpdatedNumberScheduled: tc.updated}
		if got := OnlyAway(d, tc.unserved); got != tc.want {
			t.Errorf("%s: %s: %v", name, tc.reason, got)
		}
		MarkRolledOut(d, d)
		if !RolledOut(d) {
			t.Error("it was marked")
		}
	}
}
