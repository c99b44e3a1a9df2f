package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestSucceed(t *testing.T) {
	f0 := state.Former{FSID: "f0", Monitors: []string{"10.0.0.9:6789"}}
	f1 := state.Former{FSID: "f1", Monitors: cluster.Monitors}
	tests := map[string]struct {
		reason string
		from   state.Cluster
		to     string
		want   []state.Former
	}{
		"First":     {reason: "nothing was before", to: "f1"},
		"Same":      {reason: "another epoch is the same cluster", from: cluster, to: "f1"},
		"Same late": {reason: "what was moved away from is kept", from: state.Cluster{FSID: "f1", Former: []state.Former{f0}}, to: "f1", want: []state.Former{f0}},
		"Moved":     {reason: "volumes may still be there", from: cluster, to: "f2", want: []state.Former{f1}},
		"And on": {
			reason: "all are kept",
			from:   state.Cluster{FSID: "f1", Monitors: cluster.Monitors, Former: []state.Former{f0}}, to: "f2",
			want: []state.Former{f0, f1},
		},
		"Back": {
			reason: "the one in use is no former one",
			from:   state.Cluster{FSID: "f1", Monitors: cluster.Monitors, Former: []state.Former{f0}}, to: "f0",
			want: []state.Former{f1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.from.Succeed(state.Cluster{FSID: tc.to, Epoch: 7})
			want := state.Cluster{FSID: tc.to, Epoch: 7, Former: tc.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
