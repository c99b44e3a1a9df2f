package ceph

import (
	"testing"
	"time"
)

func TestWatcherString(t *testing.T) {
	said, err := Presence{Driver: "rbd.csi.ceph.com", Instance: "i", Host: "pod-1", Address: "10.0.0.1", Since: time.Unix(0, 0)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for want, w := range map[string]Watcher{
		"the operator of rbd.csi.ceph.com on host pod-1 at 10.0.0.1 since 1970-01-01T00:00:00Z": {Client: 1, Answer: said},
		"client.1, which does not answer":        {Client: 1, Silent: true},
		"client.2, which does not say who it is": {Client: 2, Answer: []byte("{")},
	} {
		if got := w.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestShowsPresence(t *testing.T) {
	cephfs := func(key string) map[string]map[string]string {
		return map[string]map[string]string{"cephfs": {key: "fs"}}
	}
	tests := map[string]struct {
		reason string
		pool   Pool
		want   bool
	}{
		"Images":   {"journals and images", Pool{Applications: []string{"rbd"}}, true},
		"Erasure":  {"it has data alone", Pool{ErasureCoded: true}, false},
		"Metadata": {"journals, and all names", Pool{Metadata: cephfs("metadata")}, true},
		"Data":     {"a user of CephFS may have no other rights there than to files", Pool{Metadata: cephfs("data")}, false},
		"Nobodys":  {"somebody may have begun with it", Pool{}, true},
		"Manager":  {"no driver uses it, and it may be out of order where nobody minds", Pool{Applications: []string{"mgr"}}, false},
		"Gateway":  {"no driver uses it", Pool{Applications: []string{"rgw"}}, false},
		"Shared":   {"a driver uses it too", Pool{Applications: []string{"rgw", "rbd"}}, true},
		"Others":   {"nobody knows by whom", Pool{Applications: []string{"mine"}}, true},
	}
	for name, tc := range tests {
		if got := ShowsPresence(tc.pool); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
