package monitors

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestDecide(t *testing.T) {
	cluster := state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789", "10.0.0.2:6789"}}
	const (
		own     = `{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}`
		ownCSI  = `{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"cephFS":{"subvolumeGroup":"csi"}}`
		foreign = `{"monitors":["10.9.0.1:6789"],"clusterID":"f0","rbd":{"radosNamespace":"ns"}}`
		former  = `{"clusterID":"f2","monitors":["10.8.0.1:6789"]}`
	)
	csi := ceph.Placement{FSID: "f1", Filesystem: "fs", SubvolumeGroup: "csi"}
	moved := cluster
	moved.Others = []state.Other{{FSID: "f2", Monitors: []string{"10.8.0.1:6789"}}, {FSID: "f3"}}
	tests := map[string]struct {
		reason   string
		known    known
		existing string
		want     string // without white space; "" for nil
	}{
		"First":           {reason: "pods wait for it: mons are enough", known: known{cluster: cluster}, want: "[" + own + "]"},
		"Group known":     {reason: "the group is added when it is known", known: known{cluster: cluster, place: csi}, existing: "[" + own + "]", want: "[" + ownCSI + "]"},
		"Group not yet":   {reason: "after a restart the group must not go away", known: known{cluster: cluster}, existing: "[" + ownCSI + "]", want: "[" + ownCSI + "]"},
		"Group gone":      {reason: "RBD has none", known: known{cluster: cluster, place: ceph.Placement{FSID: "f1", Pool: "p"}}, existing: "[" + ownCSI + "]", want: "[" + own + "]"},
		"Own edited":      {reason: "our entry is ours alone", known: known{cluster: cluster, place: csi}, existing: `[{"clusterID":"f1","monitors":["1.1.1.1:1"],"x":1}]`, want: "[" + ownCSI + "]"},
		"Other clusterID": {reason: "volume handles carry it; nothing in it is touched", known: known{cluster: cluster}, existing: "[" + foreign + "]", want: "[" + foreign + "," + own + "]"},
		"Without mons":    {reason: "an entry without mons is of no use to anyone", known: known{cluster: cluster}, existing: `[{"clusterID":"f0","monitors":[]},{"monitors":["1.1.1.1:1"]},7]`, want: "[" + own + "]"},
		"Twice":           {reason: "ceph-csi takes the first", known: known{cluster: cluster}, existing: "[" + foreign + "," + strings.ReplaceAll(foreign, "10.9", "10.7") + "]", want: "[" + foreign + "," + own + "]"},
		"Unparsable":      {reason: "built anew", known: known{cluster: cluster}, existing: `[{"clusterID":`, want: "[" + own + "]"},
		"An object":       {reason: "built anew", known: known{cluster: cluster}, existing: foreign, want: "[" + own + "]"},
		"Null":            {reason: "built anew", known: known{cluster: cluster}, existing: "null", want: "[" + own + "]"},
		"Former lost":     {reason: "a cluster that was moved away from comes back; one without mons does not", known: known{cluster: moved}, want: "[" + own + "," + former + "]"},
		"Former there":    {reason: "what stands there may have more", known: known{cluster: moved}, existing: "[" + strings.ReplaceAll(foreign, "f0", "f2") + "]", want: "[" + own + "," + strings.ReplaceAll(foreign, "f0", "f2") + "]"},
		"No mons":         {reason: "an empty list would cut off what runs", known: known{cluster: state.Cluster{FSID: "f1"}}, existing: "[" + own + "]"},
		"No cluster":      {reason: "nothing is known", existing: "[" + own + "]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := decide(tc.known, []byte(tc.existing))
			if err != nil {
				t.Fatal(err)
			}
			compact := strings.NewReplacer("\n", "", " ", "").Replace(string(got))
			if diff := cmp.Diff(tc.want, compact); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			again, err := decide(tc.known, got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(again)); diff != "" {
				t.Errorf("%s: deciding again changes it:\n%s", tc.reason, diff)
			}
		})
	}
}

// The form is for people too.
func TestDecideFormat(t *testing.T) {
	got, err := decide(known{
		cluster: state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789"}},
		place:   ceph.Placement{FSID: "f1", SubvolumeGroup: "csi"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[
  {
    "clusterID": "f1",
    "monitors": [
      "10.0.0.1:6789"
    ],
    "cephFS": {
      "subvolumeGroup": "csi"
    }
  }
]
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDecideFollows: an entry that an administrator added for a RADOS namespace keeps all but its
// mons, which are those of the Ceph cluster it leads to.
func TestDecideFollows(t *testing.T) {
	address := func(ip string) ceph.Mon {
		return ceph.Mon{Addrs: []ceph.Address{{Protocol: ceph.V2, IP: ip, Port: 3300}, {Protocol: ceph.V1, IP: ip, Port: 6789}}}
	}
	const lost = "00000000-0000-4000-8000-000000000009"
	k := known{
		cluster: state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789", "10.0.0.3:6789"}},
		maps:    []ceph.MonMap{{Mons: []ceph.Mon{address("10.0.0.1"), address("10.0.0.3")}}},
	}
	got, err := decide(k, []byte(`[{"clusterID":"team","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"rbd":{"radosNamespace":"n"}},
		{"clusterID":"`+lost+`","monitors":["10.0.0.1:6789"]},{"clusterID":"far","monitors":["10.0.0.2:6789"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []ceph.ConfigEntry{
		{ClusterID: lost, Monitors: []string{"10.0.0.1:6789"}},
		{ClusterID: "f1", Monitors: []string{"10.0.0.1:6789", "10.0.0.3:6789"}},
		{ClusterID: "far", Monitors: []string{"10.0.0.2:6789"}},
		{ClusterID: "team", Monitors: []string{"10.0.0.1:6789", "10.0.0.3:6789"}, ImageNamespace: "n"},
	}
	if diff := cmp.Diff(want, ceph.ParseConfig(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	again, err := decide(k, got)
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("deciding again changes it: %v\n%s", err, again)
	}
}
