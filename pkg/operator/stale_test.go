package operator

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
)

func TestStale(t *testing.T) {
	known := []string{"CephConnectionDegraded", "CephRBDDriverNodeServiceControllerAvailable"}
	tests := map[string]struct {
		reason string
		held   []string
		want   []int
	}{
		"AllKnown":      {"nothing to do", known, nil},
		"Renamed":       {"an earlier version's condition would make ClusterOperator storage Degraded for ever", []string{"CephRBDOldControllerDegraded", known[0]}, []int{0}},
		"NewerVersion":  {"a later version's as well, after a downgrade", []string{known[0], "CephTagsDegraded", "CephRBDTagsProgressing"}, []int{1, 2}},
		"Informational": {"no aggregation counts it, so it may be from anywhere", []string{"CephSomethingUsable"}, nil},
		"ForPeople":     {"an earlier version of ours wrote it, and nobody takes it back", []string{"OldUsable", "StorageClassesUsable", "Disabled"}, []int{0}},
		"SomebodyElse":  {"library-go's and other components' conditions have other names", []string{"ManagementStateDegraded", "StorageClassControllerDegraded"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var held []operatorv1.OperatorCondition
			for _, conditionType := range tc.held {
				held = append(held, operatorv1.OperatorCondition{Type: conditionType})
			}
			if diff := cmp.Diff(tc.want, stale(held, "CephRBD", known, func(kind string) bool { return !strings.HasPrefix(kind, "Ceph") })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
