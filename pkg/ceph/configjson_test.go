package ceph

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseConfig(t *testing.T) {
	tests := map[string]struct {
		text string
		want []ConfigEntry
		err  error
	}{
		"Full": {
			text: `[{"clusterID":"a","monitors":["10.0.0.1:6789"],"rbd":{"radosNamespace":"n"},"cephFS":{"radosNamespace":"j","subvolumeGroup":"g","x":1}},{"clusterID":"b","monitors":["10.0.0.2:6789"]}]`,
			want: []ConfigEntry{{ClusterID: "a", Monitors: []string{"10.0.0.1:6789"}, ImageNamespace: "n", JournalNamespace: "j", SubvolumeGroup: "g"}, {ClusterID: "b", Monitors: []string{"10.0.0.2:6789"}}},
		},
		"First":     {text: `[{"clusterID":"a","monitors":["1"]},{"clusterID":"a","monitors":["2"]}]`, want: []ConfigEntry{{ClusterID: "a", Monitors: []string{"1"}}}},
		"Unusable":  {text: `[{"clusterID":"a"},{"monitors":["1"]}]`},
		"Empty":     {text: " \n"},
		"Null":      {text: "null"},
		"Object":    {text: `{"clusterID":"a","monitors":["1"]}`, err: ErrUnreadableConfig},
		"OtherType": {text: `[{"clusterID":"c","monitors":["1"],"rbd":7}]`, err: ErrUnreadableConfig},
		"NoEntry":   {text: `[{"clusterID":"c","monitors":["1"]},7]`, err: ErrUnreadableConfig},
		"CutOff":    {text: `[{"clusterID":"c","monitors":["1"]}`, err: ErrUnreadableConfig},
		"NotUTF8":   {text: "[{\"clusterID\":\"c\xff\",\"monitors\":[\"1\"]}]", err: ErrUnreadableConfig},
		"TwoTexts":  {text: `[] []`, err: ErrUnreadableConfig},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseConfig([]byte(tc.text))
			if diff := cmp.Diff(tc.want, got); diff != "" || !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v; -want +got:\n%s", err, tc.err, diff)
			}
		})
	}
}

func TestHasMon(t *testing.T) {
	m := MonMap{Mons: []Mon{{Addrs: []Address{{Protocol: V2, IP: "::1", Port: 3300}, {Protocol: V1, IP: "::1", Port: 6789}}}}}
	for name, tc := range map[string]struct {
		listed []string
		want   bool
	}{
		"Nothing":    {},
		"Another":    {listed: []string{"10.0.0.1:6789"}},
		"Beside":     {listed: []string{"10.0.0.1:6789", "[::1]:6789"}, want: true},
		"OtherPort":  {listed: []string{"[::1]:6790"}},
		"NoPort":     {listed: []string{"::1"}, want: true},
		"Spelling":   {listed: []string{"[0:0::1]:3300"}, want: true},
		"Protocol":   {listed: []string{"v2:[::1]:3300/0"}, want: true},
		"Vector":     {listed: []string{"[v2:[::1]:3300/0,v1:[::1]:6789/0]"}, want: true},
		"Name":       {listed: []string{"mon-a.example.com:6789"}},
		"NoAddress":  {listed: []string{"", "[", "a b"}},
		"SeveralIn1": {listed: []string{"10.0.0.1,::1"}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := m.HasMon(tc.listed); got != tc.want {
				t.Errorf("HasMon(%q) is %t: a mon is known by any of its addresses, however written, and by no other", tc.listed, got)
			}
		})
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add(`[{"clusterID":"a","monitors":["10.0.0.1:6789"],"rbd":{"radosNamespace":"n"}}]`)
	f.Fuzz(func(t *testing.T, text string) {
		seen := map[string]bool{}
		entries, _ := ParseConfig([]byte(text))
		for _, e := range entries {
			if e.ClusterID == "" || len(e.Monitors) == 0 || seen[e.ClusterID] {
				t.Errorf("entry %+v of %q", e, text)
			}
			seen[e.ClusterID] = true
		}
	})
}
