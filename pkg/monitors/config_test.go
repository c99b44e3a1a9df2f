package monitors

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

func TestDecide(t *testing.T) {
	cluster := state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789", "10.0.0.2:6789"}}
	const (
		own       = `{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}`
		ownCSI    = `{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"cephFS":{"subvolumeGroup":"csi"}}`
		foreign   = `{"monitors":["10.9.0.1:6789"],"clusterID":"f0","rbd":{"radosNamespace":"ns"}}`
		former    = `{"clusterID":"f2","monitors":["10.8.0.1:6789"]}`
		published = `{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"rbd":{"controllerPublishSecretRef":{"name":"p","namespace":"ns"}}}`
	)
	csi := ceph.Placement{FSID: "f1", Filesystem: "fs", SubvolumeGroup: "csi"}
	own1 := ceph.Placement{FSID: "f1", Filesystem: "fs", SubvolumeGroup: "i", JournalNamespace: "i"}
	moved := cluster
	moved.Others = []state.Other{{FSID: "f2", Monitors: []string{"10.8.0.1:6789"}}, {FSID: "f3"}}
	tests := map[string]struct {
		reason   string
		known    known
		existing string
		ours     members
		want     string // without white space; "" for nil
		err      error
	}{
		"Publisher": {
			reason: "nodes may read no Secret, and told nothing of block volumes",
			known:  known{cluster: cluster}, existing: "[" + published + "]", ours: members{"f1": {"rbd.controllerPublishSecretRef"}}, want: "[" + own + "]",
		},
		"Publisher of others": {reason: "a person's word", known: known{cluster: cluster}, existing: "[" + published + "]", ours: members{}, want: "[" + published + "]"},
		"First":               {reason: "pods wait for it: mons are enough", known: known{cluster: cluster}, want: "[" + own + "]"},
		"Group to come":       {reason: "the driver would make volumes where it never looks for them again", known: known{cluster: cluster, grouped: true}, existing: "[" + foreign + "]"},
		"Groups run":          {reason: "the driver works already", known: known{cluster: cluster, grouped: true}, existing: "[" + strings.ReplaceAll(own, "10.0.0.1", "10.0.0.9") + "]", want: "[" + own + "]"},
		"Others to come":      {reason: "nor do those beside it have a journal yet", known: known{cluster: moved, grouped: true, others: []state.Cluster{{FSID: "f2", Monitors: []string{"10.8.0.1:6789"}}}}},
		"Journal for all": {
			reason: "ceph-csi mixes up the journals of several clusterIDs",
			known:  known{cluster: moved, grouped: true, place: own1, others: []state.Cluster{{FSID: "f4", Monitors: []string{"10.7.0.1:6789"}}}},
			want:   "[" + strings.ReplaceAll(ownCSI, `"csi"`, `"i","radosNamespace":"i"`) + `,{"clusterID":"f2","monitors":["10.8.0.1:6789"],"cephFS":{"radosNamespace":"i"}},{"clusterID":"f4","monitors":["10.7.0.1:6789"],"cephFS":{"radosNamespace":"i"}}]`,
		},
		"Journals there": {
			reason: "volumes may be in what stands there",
			known:  known{cluster: cluster, grouped: true, place: own1, others: []state.Cluster{{FSID: "f2", Monitors: []string{"10.8.0.2:6789"}}}}, existing: "[" + former + "]",
			want: "[" + strings.ReplaceAll(former, "10.8.0.1", "10.8.0.2") + "," + strings.ReplaceAll(ownCSI, `"csi"`, `"i","radosNamespace":"i"`) + "]",
		},
		"Journal":           {reason: "of this cluster alone", known: known{cluster: cluster, place: own1}, want: strings.ReplaceAll("["+ownCSI+"]", `"csi"`, `"i","radosNamespace":"i"`)},
		"Journal of others": {reason: "a person's word where the operator has none", known: known{cluster: cluster, place: csi}, existing: strings.ReplaceAll("["+ownCSI+"]", `"csi"`, `"csi","radosNamespace":"j"`), want: strings.ReplaceAll("["+ownCSI+"]", `"csi"`, `"csi","radosNamespace":"j"`)},
		"Group known":       {reason: "the group is added when it is known", known: known{cluster: cluster, place: csi}, existing: "[" + own + "]", want: "[" + ownCSI + "]"},
		"Group not yet":     {reason: "after a restart the group must not go away", known: known{cluster: cluster}, existing: "[" + ownCSI + "]", want: "[" + ownCSI + "]"},
		"Group gone":        {reason: "RBD has none", known: known{cluster: cluster, place: ceph.Placement{FSID: "f1", Pool: "p"}}, existing: "[" + ownCSI + "]", want: "[" + own + "]"},
		"Group of others":   {reason: "what the operator has not set is not its to take", known: known{cluster: cluster, place: ceph.Placement{FSID: "f1", Pool: "p"}}, existing: "[" + ownCSI + "]", ours: members{}, want: "[" + ownCSI + "]"},
		"Own edited":        {reason: "the mons are ours, and what settings say", known: known{cluster: cluster, place: csi}, existing: `[{"clusterID":"f1","monitors":["1.1.1.1:1"],"x":1,"cephFS":{"netNamespaceFilePath":"/n","subvolumeGroup":"x"}}]`, ours: members{}, want: `[{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"x":1,"cephFS":{"netNamespaceFilePath":"/n","subvolumeGroup":"csi"}}]`},
		"Other clusterID":   {reason: "volume handles carry it; nothing in it is touched", known: known{cluster: cluster}, existing: "[" + foreign + "]", want: "[" + foreign + "," + own + "]"},
		"Without mons":      {reason: "half an edit is a person's to end", known: known{cluster: cluster}, existing: `[{"clusterID":"f0","monitors":[]},{"monitors":["1.1.1.1:1"]},` + own + `]`, want: `[{"clusterID":"f0","monitors":[]},{"monitors":["1.1.1.1:1"]},` + own + `]`},
		"Twice":             {reason: "ceph-csi takes the first", known: known{cluster: cluster}, existing: `[{"clusterID":"f1","monitors":["1.1.1.1:1"]},` + own + `]`, want: "[" + own + "," + own + "]"},
		"Spelling":          {reason: "as ceph-csi reads it", known: known{cluster: cluster}, existing: `[{"ClusterID":"f1","Monitors":["1.1.1.1:1"]}]`, want: `[{"ClusterID":"f1","Monitors":["10.0.0.1:6789","10.0.0.2:6789"]}]`},
		"Cut off":           {reason: "it may have had more", known: known{cluster: cluster}, existing: `[{"clusterID":`, err: ceph.ErrUnreadableConfig},
		"An object":         {reason: "it may be half an edit", known: known{cluster: cluster}, existing: foreign, err: ceph.ErrUnreadableConfig},
		"No entry":          {reason: "ceph-csi refuses all of it", known: known{cluster: cluster}, existing: "[" + own + ",7]", err: ceph.ErrUnreadableConfig},
		"Another type":      {reason: "ceph-csi refuses all of it", known: known{cluster: cluster}, existing: `[{"clusterID":"f1","monitors":"10.0.0.1:6789"}]`, err: ceph.ErrUnreadableConfig},
		"Not UTF-8":         {reason: "a reader of JSON would replace it", known: known{cluster: cluster}, existing: "[" + strings.ReplaceAll(own, "f1", "f\xff") + "]", err: ceph.ErrUnreadableConfig},
		"Blank":             {reason: "nothing is lost", known: known{cluster: cluster}, existing: " \n", want: "[" + own + "]"},
		"Null":              {reason: "built anew", known: known{cluster: cluster}, existing: "null", want: "[" + own + "]"},
		"Former lost":       {reason: "a cluster that was moved away from comes back; one without mons does not", known: known{cluster: moved}, want: "[" + own + "," + former + "]"},
		"Former there":      {reason: "what stands there may have more", known: known{cluster: moved}, existing: "[" + strings.ReplaceAll(foreign, "f0", "f2") + "]", want: "[" + strings.ReplaceAll(foreign, "f0", "f2") + "," + own + "]"},
		"No mons":           {reason: "an empty list would cut off what runs", known: known{cluster: state.Cluster{FSID: "f1"}}, existing: "[" + own + "]"},
		"No cluster":        {reason: "nothing is known", existing: "[" + own + "]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ours, err := decide(tc.known, []byte(tc.existing), tc.ours)
			if !errors.Is(err, tc.err) {
				t.Fatal(err)
			}
			compact := strings.NewReplacer("\n", "", " ", "").Replace(string(got))
			if diff := cmp.Diff(tc.want, compact); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			if got == nil {
				return
			}
			again, same, err := decide(tc.known, got, ours)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(got), string(again)); diff != "" || same.String() != ours.String() {
				t.Errorf("%s: deciding again changes it:\n%s", tc.reason, diff)
			}
		})
	}
}

// The form is for people too.
func TestDecideFormat(t *testing.T) {
	got, _, err := decide(known{
		cluster: state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789"}},
		place:   ceph.Placement{FSID: "f1", SubvolumeGroup: "csi"},
	}, nil, nil)
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
	got, _, err := decide(k, []byte(`[{"clusterID":"team","monitors":["10.0.0.1:6789","10.0.0.2:6789"],"rbd":{"radosNamespace":"n"}},
		{"clusterID":"`+lost+`","monitors":["10.0.0.1:6789"]},{"clusterID":"far","monitors":["10.0.0.2:6789"]}]`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ceph.ConfigEntry{
		{ClusterID: "team", Monitors: []string{"10.0.0.1:6789", "10.0.0.3:6789"}, ImageNamespace: "n"},
		{ClusterID: lost, Monitors: []string{"10.0.0.1:6789"}},
		{ClusterID: "far", Monitors: []string{"10.0.0.2:6789"}},
		{ClusterID: "f1", Monitors: []string{"10.0.0.1:6789", "10.0.0.3:6789"}},
	}
	entries, err := ceph.ParseConfig(got)
	if diff := cmp.Diff(want, entries); diff != "" || err != nil {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
	again, _, err := decide(k, got, nil)
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("deciding again changes it: %v\n%s", err, again)
	}
}

// TestDecideFollowsAllAtOnce: where all mons have moved, the entry that leads to the same Ceph cluster by its fsid tells which
// entries are about it, until it is changed itself; of an address that another Ceph cluster has by now, nobody knows.
func TestDecideFollowsAllAtOnce(t *testing.T) {
	moved, other := monmap(t, "v1:10.1.0.1:6789", "v1:10.1.0.2:6789"), monmap(t, "v1:10.9.0.1:6789")
	moved.FSID, other.FSID = "f1", "f2"
	k := known{cluster: state.Cluster{FSID: "f1", Monitors: moved.Monitors()}, maps: []ceph.MonMap{moved, other}}
	got, _, err := decide(k, []byte(`[{"clusterID":"team","monitors":["10.0.0.1"],"rbd":{"radosNamespace":"n"}},{"clusterID":"far","monitors":["10.0.0.7:6789"]},
		{"clusterID":"f1","monitors":["10.0.0.1:6789","10.0.0.2:6789","10.0.0.8:6789"]},
		{"clusterID":"new","monitors":["10.0.0.8:6789"]},{"clusterID":"4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11","monitors":["10.0.0.8:6789"]},{"clusterID":"f2","monitors":["10.9.0.1:6789"]}]`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []ceph.ConfigEntry{
		{ClusterID: "team", Monitors: moved.Monitors(), ImageNamespace: "n"}, {ClusterID: "far", Monitors: []string{"10.0.0.7:6789"}},
		{ClusterID: "f1", Monitors: moved.Monitors()}, {ClusterID: "new", Monitors: []string{"10.0.0.8:6789"}},
		{ClusterID: "4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11", Monitors: []string{"10.0.0.8:6789"}}, {ClusterID: "f2", Monitors: other.Monitors()},
	}
	entries, err := ceph.ParseConfig(got)
	if diff := cmp.Diff(want, entries); diff != "" || err != nil {
		t.Errorf("%v: -want +got:\n%s", err, diff)
	}
}

// TestDecideFollowsNobody: an address may be that of another Ceph cluster's mon by now, and the wrong mons
// would cut off whoever uses the entry.
func TestDecideFollowsNobody(t *testing.T) {
	const before = `[{"clusterID":"team","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}]`
	one, other := monmap(t, "v1:10.0.0.1:6789", "v1:10.0.0.3:6789"), monmap(t, "v1:10.0.0.2:6789", "v1:10.0.0.4:6789")
	for _, maps := range [][]ceph.MonMap{{one, other}, {other, one}} {
		got, _, err := decide(known{cluster: state.Cluster{FSID: "f1", Monitors: one.Monitors()}, maps: maps}, []byte(before), nil)
		if err != nil || !bytes.Contains(got, []byte(`{"clusterID":"team","monitors":["10.0.0.1:6789","10.0.0.2:6789"]}`)) {
			t.Errorf("%v, got\n%s", err, got)
		}
	}
}

// TestDecideKeepsBytes: what is not the operator's keeps its order, its white space and its spelling.
func TestDecideKeepsBytes(t *testing.T) {
	const before = "[ {\"x\" : \"<\\u00e4>\",  \"clusterID\":\"team\",\t\"monitors\":[\"1.1.1.1:1\"],\"rbd\":{ \"radosNamespace\":\"n\" }, \"readAffinity\": {\"enabled\": false} },\n" +
		"{\"cephFS\": {\"netNamespaceFilePath\" : \"/n\", \"kernelMountOptions\":\"noshare\"}, \"clusterID\":\"f1\", \"rbd\":{ \"radosNamespace\":\"m\" } , \"monitors\":[\"10.0.0.1:6789\"] } ]"
	k := known{cluster: state.Cluster{FSID: "f1", Monitors: []string{"10.0.0.1:6789"}}, place: ceph.Placement{FSID: "f1", Pool: "p"}}
	same, ours, err := decide(k, []byte(before), members{})
	if err != nil || string(same) != before || len(ours) != 0 {
		t.Errorf("nothing has changed: %v, %s\n%s", err, ours, same)
	}
	k.kernelMountOptions, k.readAffinity = "ms_mode=crc", []string{"zone"}
	k.cluster.Monitors = []string{"10.0.0.2:6789"}
	got, ours, err := decide(k, []byte(before), members{})
	if err != nil || ours.String() != `{"f1":["cephFS.kernelMountOptions","readAffinity"]}` {
		t.Errorf("%v, %s", err, ours)
	}
	for _, kept := range []string{before[2:strings.Index(before, ",\n")], `"/n"`, `"rbd": { "radosNamespace":"m" }`} {
		if !strings.Contains(string(got), kept) {
			t.Errorf("lost %s:\n%s", kept, got)
		}
	}
	k.kernelMountOptions, k.readAffinity = "", nil
	got, ours, err = decide(k, got, ours)
	if text := string(got); err != nil || len(ours) != 0 || strings.Contains(text, "ms_mode") || strings.Contains(text, "zone") || !strings.Contains(text, `{"enabled": false}`) {
		t.Errorf("only what the settings had brought goes with them: %v, %s\n%s", err, ours, got)
	}
}
