package nodes

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestOnlyAway(t *testing.T) {
	away, crashing, cordoned := Unserved{Node: "a", Away: true}, Unserved{Node: "b"}, Unserved{Node: "d", Cordoned: true}
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
		"Unknown":  {"the pod runs: its kubelet's doing", 2, 7, []Unserved{away, {Node: "c", Unregistered: true}}, true},
		"Crashing": {"the new version does not start", 2, 8, []Unserved{away, crashing}, false},
		"Cordoned": {"the new pod cannot start where an administrator has something to mend", 2, 8, []Unserved{cordoned}, true},
		"Beside":   {"a pod elsewhere is old still", 2, 7, []Unserved{cordoned}, false},
		"Both":     {"neither is waited for", 2, 7, []Unserved{away, cordoned}, true},
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

func TestMakeRoom(t *testing.T) {
	away, crashing, cordoned := Unserved{Node: "a", Away: true}, Unserved{Node: "b"}, Unserved{Node: "d", Cordoned: true}
	for name, tc := range map[string]struct {
		reason   string
		updated  int32
		unserved []Unserved
		want     string
	}{
		"None":     {"a rollout goes its way", 3, nil, "10%"},
		"Crashing": {"a new version that does not start must not spread", 3, []Unserved{crashing}, "10%"},
		"Away":     {"one beside it", 3, []Unserved{away, crashing}, "2"},
		"Cordoned": {"its pod does not start, and counts as well", 3, []Unserved{away, cordoned}, "3"},
		"Enough":   {"all others have the new pod", 7, []Unserved{away}, "10%"},
	} {
		d, live := &appsv1.DaemonSet{}, &appsv1.DaemonSet{}
		d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: ptr.To(intstr.FromString("10%"))}
		live.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 8, UpdatedNumberScheduled: tc.updated}
		if err := MakeRoom(d, live, tc.unserved); err != nil {
			t.Fatal(err)
		}
		if got := d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.String(); got != tc.want {
			t.Errorf("%s: %s: %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}
