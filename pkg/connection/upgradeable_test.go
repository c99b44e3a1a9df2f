package connection

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// TestUpgradeable: an upgrade must not end with a driver that the Ceph cluster does not understand.
func TestUpgradeable(t *testing.T) {
	runs := func(fsid, version string) view {
		return view{live: true, cluster: ceph.Cluster{FSID: fsid}, version: version}
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
