package ceph

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

const rookCluster = "4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11"

func rookSecret(changes map[string]string) map[string][]byte {
	out := map[string][]byte{
		"fsid": []byte(rookCluster), "cluster-name": []byte("rook-ceph"), "mon-secret": []byte(key(2)),
		"admin-secret": []byte(key(1)), "ceph-username": []byte("client.admin"), "ceph-secret": []byte(key(1)),
	}
	for name, value := range changes {
		out[name] = []byte(value)
	}
	return out
}

func TestParseRook(t *testing.T) {
	tests := map[string]struct {
		reason    string
		secret    map[string]string
		endpoints string
		user      string
		monitors  string
		fault     string // a part of the error's text
	}{
		"Internal": {
			reason:    "Rook writes the mons in another order each time",
			endpoints: "b=10.0.0.2:3300,a=10.0.0.1:6789", user: "admin", monitors: "10.0.0.1:6789,10.0.0.2:3300",
		},
		"External": {
			reason:    "the user that Rook works as, of which the leader's address was imported only",
			secret:    map[string]string{"ceph-username": "client.healthchecker", "admin-secret": "admin-secret", "mon-secret": "mon-secret"},
			endpoints: "a=10.0.0.1:6789", user: "healthchecker", monitors: "10.0.0.1:6789",
		},
		"Old": {
			reason:    "before there was a ceph-username",
			secret:    map[string]string{"ceph-username": "", "ceph-secret": ""},
			endpoints: "a=10.0.0.1:6789", user: "admin", monitors: "10.0.0.1:6789",
		},
		"IPv6":         {reason: "two stacks", endpoints: "a=[fd00::1]:6789, b=[fd00::2]:3300,", user: "admin", monitors: "[fd00::1]:6789,[fd00::2]:3300"},
		"NoSharedUser": {reason: "the import leaves placeholders", secret: map[string]string{"ceph-secret": "", "admin-secret": "admin-secret"}, endpoints: "a=10.0.0.1:6789", fault: "external Ceph cluster"},
		"NoFSID":       {reason: "Rook fills the Secret later", secret: map[string]string{"fsid": ""}, endpoints: "a=10.0.0.1:6789", fault: `key "fsid" of Secret rook-ceph-mon has no`},
		"BadFSID":      {reason: "a placeholder", secret: map[string]string{"fsid": "fsid"}, endpoints: "a=10.0.0.1:6789", fault: `key "fsid"`},
		"BadUser":      {reason: "pasted into the wrong place", secret: map[string]string{"ceph-username": "client." + key(1)}, endpoints: "a=10.0.0.1:6789", fault: `key "ceph-username"`},
		"BadKey":       {reason: "librados would print it", secret: map[string]string{"ceph-secret": key(1)[:30]}, endpoints: "a=10.0.0.1:6789", fault: `key "ceph-secret" of Secret rook-ceph-mon is wrong`},
		"NoMons":       {reason: "Rook fills the ConfigMap later", fault: `key "data" of ConfigMap rook-ceph-mon-endpoints is wrong: it lists no mon`},
		"NoName":       {reason: "not Rook's form", endpoints: "10.0.0.1:6789", fault: "is not of the form"},
		"BadMon":       {reason: "not an address", endpoints: "a=10.0.0.1:99999", fault: `mon "a": `},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := ParseRook(rookSecret(tc.secret), map[string]string{"data": tc.endpoints})
			var input *InputError
			if tc.fault != "" {
				if !errors.As(err, &input) || !strings.Contains(input.Text, tc.fault) {
					t.Errorf("%s: got %v, want an InputError with %q", tc.reason, err, tc.fault)
				}
				noKey(t, err)
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			source, err := ParseSource(t.Context(), data, hosts(nil))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if source.FSID != rookCluster || source.UserID != tc.user || source.Key.Reveal() != key(1) || string(data["monitors"]) != tc.monitors {
				t.Errorf("%s: %+v with mons %s", tc.reason, source, data["monitors"])
			}
		})
	}
}

func FuzzParseRook(f *testing.F) {
	f.Add(rookCluster, "client.admin", key(1), "a=10.0.0.1:6789,b=[::1]:3300")
	f.Add("fsid", "", key(1)+"x", "=,a=")
	f.Fuzz(func(t *testing.T, fsid, user, secret, endpoints string) {
		data, err := ParseRook(rookSecret(map[string]string{"fsid": fsid, "ceph-username": user, "ceph-secret": secret}),
			map[string]string{"data": endpoints})
		noKey(t, err)
		if err != nil {
			return
		}
		again, err := ParseRook(rookSecret(map[string]string{"fsid": fsid, "ceph-username": user, "ceph-secret": secret}),
			map[string]string{"data": endpoints})
		if err != nil || !maps.EqualFunc(data, again, func(a, b []byte) bool { return string(a) == string(b) }) {
			t.Errorf("not stable: %v", err)
		}
		if _, err := ParseSource(t.Context(), data, hosts(nil)); err != nil && !errors.Is(err, ErrUnresolved) {
			t.Errorf("%q is accepted, and then refused: %v", endpoints, err)
		}
	})
}
