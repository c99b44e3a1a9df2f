package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// with is the cluster of state_test.go beside others.
func with(others ...state.Other) state.Cluster {
	c := cluster
	c.Others = others
	return c
}

func TestOthers(t *testing.T) {
	f0 := state.Other{FSID: "f0", Epoch: 2, Monitors: []string{"10.0.0.9:6789"}}
	f2 := state.Cluster{FSID: "f2", Epoch: 5, Monitors: []string{"10.0.0.7:6789"}, MonHost: []string{"v2:10.0.0.7:3300"}}
	c := with(f0).Beside(f2)
	f2.Epoch = 6
	newer := c.Beside(f2)
	for fsid, want := range map[string]int64{"f0": 2, "f1": cluster.Epoch, "f2": 6, "f3": 0, "": 0} {
		if got := newer.Of(fsid); got.Epoch != want {
			t.Errorf("%q has epoch %d, want %d", fsid, got.Epoch, want)
		}
	}
	if got := newer.Of("f2").MonHost; len(got) != 1 || len(newer.Others) != 2 || c.Of("f2").Epoch != 5 {
		t.Errorf("%v after %v", newer, c)
	}
}

func TestSucceed(t *testing.T) {
	f0 := state.Other{FSID: "f0", Monitors: []string{"10.0.0.9:6789"}}
	f1 := state.Other{FSID: "f1", Epoch: cluster.Epoch, Monitors: cluster.Monitors, MonHost: cluster.MonHost}
	tests := map[string]struct {
		reason string
		from   state.Cluster
		to     string
		want   []state.Other
	}{
		"First":     {reason: "nothing was before", to: "f1"},
		"Same":      {reason: "another epoch is the same cluster", from: cluster, to: "f1"},
		"Same late": {reason: "what was moved away from is kept", from: state.Cluster{FSID: "f1", Others: []state.Other{f0}}, to: "f1", want: []state.Other{f0}},
		"Moved":     {reason: "volumes may still be there", from: cluster, to: "f2", want: []state.Other{f1}},
		"And on": {
			reason: "all are kept",
			from:   with(f0), to: "f2",
			want: []state.Other{f0, f1},
		},
		"Back": {
			reason: "the one in use is no former one",
			from:   with(f0), to: "f0",
			want: []state.Other{f1},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := tc.from.Succeed(state.Cluster{FSID: tc.to, Epoch: 7})
			want := state.Cluster{FSID: tc.to, Epoch: 7, Others: tc.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
