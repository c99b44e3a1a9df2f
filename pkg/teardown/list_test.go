package teardown

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestList(t *testing.T) {
	f := &fakeUsers{
		pools: []ceph.Pool{
			{ID: 1, Name: "p", Applications: []string{"rbd"}, Metadata: marks("a", "b.c")},
			{ID: 2, Name: "q", Applications: []string{"rbd"}, Metadata: marks("a", "d")},
		},
		users: []string{"admin", "csi-rbd-provisioner.users-only", "csi-cephfs-node.users-only", "csi-rbd-node.a", "csi-else.b", "csi-rbd-node.1", "csi-cephfs-provisioner.12"},
		sessions: []ceph.Session{
			{Entity: "client.csi-rbd-node.a", Host: "n2"}, {Entity: "client.csi-cephfs-node.a", Host: "n1"}, {Entity: "client.csi-rbd-node.a", Host: "n1"},
			{Entity: "client.admin", Host: "n3"}, {Entity: "client.csi-rbd-node.1", Host: "n5"}, {Entity: "client.csi-rbd-provisioner.unclaimed", Host: "n4"},
		},
	}
	f.watched = map[string][]ceph.Watcher{"p/running.a.rbd": {{Client: 7, Silent: true}}, "q/running.a.rbd": {{Client: 7, Silent: true}}, "q/running.b.c.rbd": {{Client: 8}}}
	parts := []Part{&shelf{found: Findings{Tags: map[string]int{"a": 2, "gone": 1}}}, &shelf{found: Findings{Tags: map[string]int{"a": 3}}}}
	now, before := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2025, 12, 31, 1, 2, 3, 0, time.UTC)
	f.lastWatched = map[string]time.Time{"p/running.b.c.rbd": before.Add(-time.Hour), "q/running.a.rbd": before, "q/running.b.c.rbd": now}
	got, err := List(t.Context(), f, parts, now)
	if err != nil {
		t.Fatal(err)
	}
	want := []ClusterUse{
		{InfraID: "a", Claims: []string{"p (rbd)", "q (rbd)"}, Tagged: 5, Users: []string{"client.csi-rbd-node.a"}, Connected: []string{"n1", "n2"}, Running: []string{"client.7, which does not answer"}, LastSeen: now},
		{InfraID: "b.c", Claims: []string{"p (rbd)"}, LastSeen: before.Add(-time.Hour)},
		{InfraID: "d", Claims: []string{"q (rbd)"}},
		{InfraID: "gone", Tagged: 1},
		{InfraID: "unclaimed", Connected: []string{"n4"}},
		{InfraID: "users-only", Users: []string{"client.csi-cephfs-node.users-only", "client.csi-rbd-provisioner.users-only"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var table, text bytes.Buffer
	if err := WriteList(&table, got, false); err != nil || !strings.Contains(table.String(), "a: 5 volumes and snapshots; claims: p (rbd), q (rbd); users: client.csi-rbd-node.a; connected: n1, n2; running: client.7, which does not answer; last seen: now\n") ||
		!strings.Contains(table.String(), "last seen: 2025-12-31T00:02:03Z\nd:") || !strings.Contains(table.String(), "last seen: unknown\n") {
		t.Errorf("%v, table:\n%s", err, table.String())
	}
	if err := WriteList(&text, got, true); err != nil || !strings.Contains(text.String(), `"infraID": "gone"`) {
		t.Errorf("%v, JSON:\n%s", err, text.String())
	}
	table.Reset()
	if err := WriteList(&table, []ClusterUse{{InfraID: "a\x1b[2J\u009b1A\nb", Connected: []string{"n\x1b[1A"}}}, false); err != nil || !strings.HasPrefix(table.String(), "a [2J 1A b: ") || strings.Count(table.String(), "\n") != 1 || strings.Contains(table.String(), "\x1b") {
		t.Errorf("%v, what others wrote into Ceph reaches the terminal: %q", err, table.String())
	}
	for infraID, slip := range map[string]bool{"a": false, "A": true, "gone": true} {
		err := Unclaimed(f.pools, infraID)
		if errors.Is(err, ErrUnclaimed) != slip || slip && (!strings.Contains(err.Error(), "claims of a, b.c, d (") || !strings.Contains(err.Error(), "--unclaimed goes on")) {
			t.Errorf("%s: %v", infraID, err)
		}
	}
	if err := Unclaimed(nil, "a"); err != nil {
		t.Errorf("where nobody claims anything: %v", err)
	}
}
