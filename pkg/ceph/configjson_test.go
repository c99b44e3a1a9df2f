package ceph

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConfig(t *testing.T) {
	tests := map[string]struct {
		text string
		want []ConfigEntry
	}{
		"Full": {
			`[{"clusterID":"a","monitors":["10.0.0.1:6789"],"rbd":{"radosNamespace":"n"},"cephFS":{"radosNamespace":"j","subvolumeGroup":"g","x":1}},{"clusterID":"b","monitors":["10.0.0.2:6789"]}]`,
			[]ConfigEntry{{ClusterID: "a", Monitors: []string{"10.0.0.1:6789"}, ImageNamespace: "n", JournalNamespace: "j", SubvolumeGroup: "g"}, {ClusterID: "b", Monitors: []string{"10.0.0.2:6789"}}},
		},
		"First":    {`[{"clusterID":"a","monitors":["1"]},{"clusterID":"a","monitors":["2"]}]`, []ConfigEntry{{ClusterID: "a", Monitors: []string{"1"}}}},
		"Unusable": {`[{"clusterID":"a"},{"monitors":["1"]},{"clusterID":"c","monitors":["1"],"rbd":7},7]`, nil},
		"Empty":    {``, nil},
		"Object":   {`{"clusterID":"a","monitors":["1"]}`, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ParseConfig([]byte(tc.text))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHasMon(t *testing.T) {
	m := MonMap{Mons: []Mon{{Addrs: []Address{{Protocol: V2, IP: "::1", Port: 3300}, {Protocol: V1, IP: "::1", Port: 6789}}}}}
	if !m.HasMon([]string{"10.0.0.1:6789", "[::1]:6789"}) || m.HasMon([]string{"10.0.0.1:6789"}) || m.HasMon(nil) {
		t.Error("a mon is known by any of its addresses, and by no other")
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(`[{"clusterID":"a","monitors":["10.0.0.1:6789"],"rbd":{"radosNamespace":"n"}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		for _, e := range ParseConfig([]byte(text)) {
			if e.ClusterID == "" || len(e.Monitors) == 0 || seen[e.ClusterID] {
				t.Errorf("entry %+v of %q", e, text)
			}
			seen[e.ClusterID] = true
		}
	})
}
