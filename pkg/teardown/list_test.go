package teardown

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestList(t *testing.T) {
	f := &fakeUsers{
		pools: []ceph.Pool{
			{ID: 1, Name: "p", Applications: []string{"rbd"}, Metadata: marks("a", "b.c")},
			{ID: 2, Name: "q", Applications: []string{"rbd"}, Metadata: marks("a")},
		},
		sessions: []ceph.Session{
			{Entity: "client.csi-rbd-node.a", Host: "n2"}, {Entity: "client.csi-cephfs-node.a", Host: "n1"}, {Entity: "client.csi-rbd-node.a", Host: "n1"},
			{Entity: "client.admin", Host: "n3"}, {Entity: "client.csi-rbd-provisioner.unclaimed", Host: "n4"},
		},
	}
	f.watched = map[string][]ceph.Watcher{"p/running.a.rbd": {{Client: 7, Silent: true}}, "q/running.a.rbd": {{Client: 7, Silent: true}}, "q/running.b.c.rbd": {{Client: 8}}}
	parts := []Part{&shelf{found: Findings{Tags: map[string]int{"a": 2, "gone": 1}}}, &shelf{found: Findings{Tags: map[string]int{"a": 3}}}}
	got, err := List(t.Context(), f, parts)
	if err != nil {
		t.Fatal(err)
	}
	want := []ClusterUse{
		{InfraID: "a", Claims: []string{"p (rbd)", "q (rbd)"}, Tagged: 5, Connected: []string{"n1", "n2"}, Running: []string{"client.7, which does not answer"}},
		{InfraID: "b.c", Claims: []string{"p (rbd)"}},
		{InfraID: "gone", Tagged: 1},
		{InfraID: "unclaimed", Connected: []string{"n4"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var table, text bytes.Buffer
	if err := WriteList(&table, got, false); err != nil || !strings.Contains(table.String(), "a: 5 volumes and snapshots; claims: p (rbd), q (rbd); connected: n1, n2; running: client.7, which does not answer\n") {
		t.Errorf("%v, table:\n%s", err, table.String())
	}
	if err := WriteList(&text, got, true); err != nil || !strings.Contains(text.String(), `"infraID": "gone"`) {
		t.Errorf("%v, JSON:\n%s", err, text.String())
	}
	for infraID, slip := range map[string]bool{"a": false, "A": true, "gone": true} {
		if sentence := Unclaimed(f.pools, infraID); (sentence != "") != slip || slip && !strings.Contains(sentence, "claims of a, b.c") {
			t.Errorf("%s: %q", infraID, sentence)
		}
	}
	if sentence := Unclaimed(nil, "a"); sentence != "" {
		t.Errorf("where nobody claims anything: %q", sentence)
	}
}
