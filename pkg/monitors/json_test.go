package monitors

import (
	"errors"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestReplaceMonitors(t *testing.T) {
	mons := func(clusterID string, _ []string) []string {
		if clusterID == "f1" {
			return []string{"10.0.0.1:6789", "10.0.0.2:6789"}
		}
		return nil
	}
	const foreign = "{ \"clusterID\":\"f0\",\n\t\"monitors\" : [ \"1.1.1.1\" ], \"x\":{\"monitors\":[\"2\"]} }"
	tests := map[string]struct{ reason, content, want string }{
		"Follows": {"every other byte stays",
			" [\n" + foreign + " ,\n{\"rbd\": {\"monitors\": [\"a\"]}, \"monitors\": [ \"10.0.0.9:6789\" ] , \"clusterID\": \"f1\"}\n]\n",
			" [\n" + foreign + " ,\n{\"rbd\": {\"monitors\": [\"a\"]}, \"monitors\": [\"10.0.0.1:6789\",\"10.0.0.2:6789\"] , \"clusterID\": \"f1\"}\n]\n"},
		"SameSet":   {"their order is theirs", `[{"clusterID":"f1","monitors":["10.0.0.2:6789","10.0.0.1:6789"]}]`, `[{"clusterID":"f1","monitors":["10.0.0.2:6789","10.0.0.1:6789"]}]`},
		"Twice":     {"either may be read", `[{"clusterID":"f1","monitors":["a"]},{"clusterID":"f1","monitors":[]}]`, `[{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"]},{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}]`},
		"NoField":   {"not a working entry, not ours to mend", `[{"clusterID":"f1"}]`, `[{"clusterID":"f1"}]`},
		"Spelling":  {"as ceph-csi reads it", `[{"ClusterID":"f1","Monitors":["a"]}]`, `[{"ClusterID":"f1","Monitors":["10.0.0.1:6789","10.0.0.2:6789"]}]`},
		"LastField": {"as JSON readers do", `[{"monitors":["a"],"clusterID":"f1","monitors":["b"]}]`, `[{"monitors":["a"],"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}]`},
		"Odd":       {"what is no entry stays", `[7,{"clusterID":1},null]`, `[7,{"clusterID":1},null]`},
		"Empty":     {"a driver that is not used yet", `[]`, `[]`},
		"Object":    {"another file", `{}`, ""},
		"Broken":    {"cut off", `[{"clusterID":"f1","monitors":["a"]}`, ""},
		"Nothing":   {"an empty key", "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := replaceMonitors([]byte(tc.content), mons)
			if (err != nil) != (tc.want == "") || string(got) != tc.want {
				t.Errorf("%s: %v\n got %s\nwant %s", tc.reason, err, got, tc.want)
			}
		})
	}
}

func FuzzConfigJSON(f *testing.F) {
	f.Add(`[{"clusterID":"f1","monitors":["1.1.1.1:6789"],"cephFS":{"subvolumeGroup":"csi"}},{"clusterID":"f0"}]`)
	f.Add(`[{"monitors":["a"],"monitors":[],"clusterID":"f1"}] `)
	f.Add(`[[],{},"`)
	f.Fuzz(func(t *testing.T, text string) {
		wanted := func(id string, _ []string) []string {
			if id != "f1" {
				return nil
			}
			return []string{"10.0.0.1:6789"}
		}
		out, err := replaceMonitors([]byte(text), wanted)
		if err == nil {
			again, err := replaceMonitors(out, wanted)
			if err != nil || string(again) != string(out) {
				t.Errorf("%q became %q, then %q: %v", text, out, again, err)
			}
			if !strings.Contains(text, "f1") && !strings.Contains(text, `\u`) && text != string(out) {
				t.Errorf("%q became %q", text, out)
			}
		}
		k := known{}
		k.cluster.FSID, k.cluster.Monitors = "f1", []string{"10.0.0.1:6789"}
		first, ours, err := decide(k, []byte(text), nil)
		if _, unreadable := ceph.ParseConfig([]byte(text)); unreadable != nil {
			if first != nil || !errors.Is(err, ceph.ErrUnreadableConfig) {
				t.Fatalf("%q: decided %q, %v", text, first, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		c, err := readConfig(first)
		if again, _, differs := decide(k, first, ours); err != nil || differs != nil || string(again) != string(first) || len(c.monitors("f1")) != 1 {
			t.Errorf("%q: decided %q, then %q: %v, %v", text, first, again, err, differs)
		}
	})
}
