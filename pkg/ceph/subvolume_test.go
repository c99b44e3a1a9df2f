package ceph

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseSubvolumeInfo(t *testing.T) {
	tests := map[string]struct {
		text string
		want Subvolume
		bad  bool
	}{
		"Complete": {text: `{"bytes_quota": 1048576, "created_at": "2026-11-21 16:13:59", "state": "complete", "type": "clone", "path": "/x"}`, want: Subvolume{Type: "clone", State: SubvolumeComplete, Size: 1048576, Created: time.Date(2026, 11, 21, 16, 13, 59, 0, time.UTC)}},
		"Endless":  {text: `{"bytes_quota": "infinite", "state": "complete", "type": "subvolume"}`, want: Subvolume{Type: "subvolume", State: SubvolumeComplete}},
		"Retained": {text: `{"features": [], "state": "snapshot-retained", "type": "subvolume"}`, want: Subvolume{Type: "subvolume", State: SubvolumeRetained}},
		"NoState":  {text: `{"type": "subvolume"}`, bad: true},
		"List":     {text: `[]`, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseSubvolumeInfo([]byte(tc.text))
			if diff := cmp.Diff(tc.want, got); (err != nil) != tc.bad || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestParsePendingClones(t *testing.T) {
	tests := map[string]struct {
		text      string
		want, bad bool
	}{
		"Yes":     {text: `{"has_pending_clones": "yes", "pending_clones": [{"name": "c"}]}`, want: true},
		"No":      {text: `{"has_pending_clones": "no"}`},
		"Unknown": {text: `{"size": 0}`, bad: true},
		"NoJSON":  {text: `no`, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParsePendingClones([]byte(tc.text))
			if got != tc.want || (err != nil) != tc.bad {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestParseSessions(t *testing.T) {
	got, err := ParseSessions([]byte(`[{"name":"mon.0","entity_name":""},{"name":"client.?","entity_name":"client.csi-rbd-node.x","remote_host":"n1"},{"entity_name":"mds.a"}]`))
	want := []Session{{Entity: "client.csi-rbd-node.x", Host: "n1"}, {Entity: "mds.a"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "{}", `[{"name":"client.1"}]`} {
		if got, err := ParseSessions([]byte(text)); err == nil {
			t.Errorf("%q reads as %v", text, got)
		}
	}
}

func TestParseFileClients(t *testing.T) {
	got, err := ParseFileClients([]byte(`[{"id":1,"client_metadata":{"entity_id":"csi-cephfs-node.x","hostname":"n1","root":"/volumes/csi/v/1"}}]`))
	want := []FileClient{{Entity: "client.csi-cephfs-node.x", Root: "/volumes/csi/v/1", Host: "n1"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := ParseFileClients([]byte("x")); err == nil {
		t.Errorf("reads as %v", got)
	}
}
