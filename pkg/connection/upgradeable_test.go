package connection

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// TestUpgradeable: an upgrade must not end with a driver that the Ceph cluster does not understand.
func TestUpgradeable(t *testing.T) {
	runs := func(fsid, version string) view {
		return view{live: true, cluster: ceph.Cluster{FSID: fsid}, versions: ceph.Versions{"mon": {"20.2.4": 1}, "osd": {version: 1}}}
	}
	for name, tc := range map[string]struct {
		reason string
		views  []view
		want   string
	}{
		"New":     {"the next version works with it", []view{runs("a", "16.2.15"), runs("b", "20.2.4")}, ""},
		"Unknown": {"nobody has answered yet", []view{{}, runs("a", "")}, ""},
		"Old": {"one is enough, told once however often it is declared", []view{runs("b", "20.2.4"), runs("a", "15.2.17"), runs("a", "15.2.17")},
			"Ceph cluster a runs release 15.2.17, and the next version of this operator needs 16.2 or later: upgrade Ceph first, and see with `ceph versions` that all of it is"},
	} {
		t.Run(name, func(t *testing.T) {
			var got string
			for _, c := range conditionsOf(outcome{tooOld: tooOld(tc.views)}) {
				if *c.Type == condition.ReleaseUpgradeable {
					got = *c.Message
					if *c.Status != operatorv1.ConditionFalse || *c.Reason != condition.CephTooOld {
						t.Errorf("%s: %s %s", tc.reason, *c.Status, *c.Reason)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNotUpgradeableUntilToldOtherwise: what a process has found out is not taken back by the next one, whom
// nobody has answered.
func TestNotUpgradeableUntilToldOtherwise(t *testing.T) {
	inUse := world{recorded: state.Cluster{FSID: "a"}}
	further := world{recorded: state.Cluster{FSID: "a", Others: []state.Other{{FSID: "b"}}}}
	a, declared := view{live: true, cluster: ceph.Cluster{FSID: "a"}, versions: ceph.Versions{"osd": {"20.2.4": 1}}}, map[string][]byte{}
	for name, tc := range map[string]struct {
		reason string
		world  world
		views  []view
		stands bool
	}{
		"Silent":      {"Ceph does not answer since the restart", inUse, []view{{source: source{key: "s"}}}, true},
		"NoRelease":   {"it has not told its release", inUse, []view{{live: true, cluster: ceph.Cluster{FSID: "a"}}}, true},
		"AnotherOne":  {"the one in use does not answer", inUse, []view{{live: true, cluster: ceph.Cluster{FSID: "b"}, versions: ceph.Versions{"osd": {"20.2.4": 1}}}}, true},
		"Declaration": {"the Secret is gone", inUse, nil, true},
		"Old":         {"it still is", inUse, []view{{live: true, cluster: ceph.Cluster{FSID: "a"}, versions: ceph.Versions{"osd": {"15.2.17": 1}}}}, true},
		"New":         {"it was upgraded", inUse, []view{{live: true, cluster: ceph.Cluster{FSID: "a"}, versions: ceph.Versions{"osd": {"16.2.15": 1}}}}, false},
		"None":        {"no Ceph cluster is in use", world{}, nil, false},
		"GivenUp":     {"the driver is deployed no more, and nothing is declared", world{recorded: state.Cluster{FSID: "a"}, decided: true}, nil, false},
		"Undecided":   {"it may be deployed", world{recorded: state.Cluster{FSID: "a"}}, nil, true},
		"Closed":      {"its Secret is there, so it may come back", world{recorded: state.Cluster{FSID: "a"}, decided: true}, []view{{source: source{unread: true}}}, true},
		"Beside":      {"a further one was too old, and is silent", further, []view{a, {source: source{declared: "b", data: declared}}}, true},
		"BesideNew":   {"it was upgraded", further, []view{a, {live: true, cluster: ceph.Cluster{FSID: "b"}, versions: ceph.Versions{"osd": {"20.2.4": 1}}, source: source{declared: "b", data: declared}}}, false},
		"BesideGone":  {"nobody declares it any more", further, []view{a}, false},
	} {
		t.Run(name, func(t *testing.T) {
			operator := conditiontest.New(operatorv1.Managed).With(operatorv1.OperatorCondition{Type: condition.ReleaseUpgradeable, Status: operatorv1.ConditionFalse})
			o := outcome{tooOld: tooOld(tc.views), told: tc.world.told(tc.views)}
			if err := condition.Say(t.Context(), operator, "x", o.types(), conditionsOf(o)...); err != nil {
				t.Fatal(err)
			}
			if stands := operator.Condition(condition.ReleaseUpgradeable) != nil; stands != tc.stands {
				t.Errorf("%s: the condition stands: %t", tc.reason, stands)
			}
		})
	}
}
