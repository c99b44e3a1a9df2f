package clusterstorage

import (
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

func TestDescribe(t *testing.T) {
	const uid = "3f2a9c1d-4b7e-4d11-9a55-0c1d2e3f4a5b"
	tests := map[string]struct {
		reason  string
		current string
		wish    string
		seen    seen
		name    string
		nodes   configv1.TopologyMode
		says    string
	}{
		"New":     {reason: "made of random digits: other clusters use the same Ceph", seen: seen{uid, true}, name: "kubernetes-3f2a9c1d4b7e", nodes: configv1.HighlyAvailableTopologyMode},
		"Chosen":  {reason: "the administrator knows better", wish: "harvester-1", seen: seen{uid, true}, name: "harvester-1", nodes: configv1.HighlyAvailableTopologyMode},
		"Stays":   {reason: "nobody asks for the UID again", current: "kubernetes-3f2a9c1d4b7e", seen: seen{"", true}, name: "kubernetes-3f2a9c1d4b7e", nodes: configv1.HighlyAvailableTopologyMode},
		"Same":    {reason: "a wish that has been fulfilled", current: "harvester-1", wish: "harvester-1", name: "harvester-1", nodes: configv1.SingleReplicaTopologyMode},
		"Later":   {reason: "volumes carry the first one", current: "kubernetes-3f2a9c1d4b7e", wish: "harvester-1", seen: seen{"", true}, name: "kubernetes-3f2a9c1d4b7e", nodes: configv1.HighlyAvailableTopologyMode, says: "--infra-id is harvester-1, but this cluster is kubernetes-3f2a9c1d4b7e"},
		"OneNode": {reason: "a Harvester begins with one", seen: seen{uid, false}, name: "kubernetes-3f2a9c1d4b7e", nodes: configv1.SingleReplicaTopologyMode},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := describe(configv1.InfrastructureStatus{InfrastructureName: tc.current}, tc.wish, tc.seen)
			if got.InfrastructureName != tc.name || got.InfrastructureTopology != tc.nodes || got.ControlPlaneTopology != configv1.ExternalTopologyMode {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if err := CheckInfraID(got.InfrastructureName); err != nil {
				t.Error(err)
			}
			if again, _ := describe(got, tc.wish, tc.seen); !equality.Semantic.DeepEqual(got, again) {
				t.Errorf("%s: a second look changes %+v to %+v", tc.reason, got, again)
			}
		})
	}
}

func TestCheckInfraID(t *testing.T) {
	tests := map[string]struct {
		reason string
		id     string
		right  bool
	}{
		"None":     {"one is made up", "", true},
		"Usual":    {"as OpenShift's installer makes them", "demo-x7k2p", true},
		"Short":    {"one letter names a pool, too", "a", true},
		"Longest":  {"27 are allowed", strings.Repeat("a", 27), true},
		"TooLong":  {"28 are not", strings.Repeat("a", 28), false},
		"Upper":    {"teardown compares to the letter", "Demo", false},
		"Dot":      {"a dot separates in names of Ceph users", "a.b", false},
		"Digits":   {"Rook's Ceph users are called so", "1", false},
		"Dash":     {"pool names begin with it", "-a", false},
		"LastDash": {"-rbd comes behind", "a-", false},
		"Blank":    {"a slip", "a b", false},
	}
	for name, tc := range tests {
		if err := CheckInfraID(tc.id); (err == nil) != tc.right {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
	}
}
