package credentials

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const otherKey = "AQBhbm90aGVyLXNlc2FtZS1hbm90aGVyLXNlc2Ft"

var admin = ceph.Credentials{UserID: "admin", Key: ceph.NewKey("AQBvcGVuLXNlc2FtZS1vcGVuLXNlc2FtZS1vcGVu")}

func TestDecide(t *testing.T) {
	passphrase := func(s *corev1.Secret) { s.Data["encryptionPassphrase"] = []byte("p") }
	good := func(change func(*corev1.Secret)) map[string]*corev1.Secret {
		out := map[string]*corev1.Secret{}
		for _, s := range decide(driver.RBD, map[string]ceph.Credentials{"a": admin, "b": admin}, nil) {
			out[s.Name] = s
		}
		change(out["b"])
		return out
	}
	tests := map[string]struct {
		reason   string
		wanted   map[string]ceph.Credentials
		existing map[string]*corev1.Secret
		want     []string
		keeps    bool
	}{
		"First":     {reason: "all are missing", wanted: map[string]ceph.Credentials{"b": admin, "a": admin}, want: []string{"a", "b"}},
		"Same":      {reason: "nothing to do", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(func(*corev1.Secret) {})},
		"New key":   {reason: "rotation changes content", wanted: map[string]ceph.Credentials{"a": admin, "b": {UserID: "admin", Key: ceph.NewKey(otherKey)}}, existing: good(func(*corev1.Secret) {}), want: []string{"b"}},
		"Own users": {reason: "each Secret has its own user", wanted: map[string]ceph.Credentials{"a": {UserID: "x", Key: admin.Key}, "b": admin}, existing: good(func(*corev1.Secret) {}), want: []string{"a"}},
		"Edited":    {reason: "put right", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(func(s *corev1.Secret) { s.Data["userID"] = []byte("x") }), want: []string{"b"}},
		"Added":     {reason: "ceph-csi would read adminID too", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(func(s *corev1.Secret) { s.Data["adminID"] = nil }), want: []string{"b"}},
		"Others":    {reason: "the passphrase of volumes that are encrypted without a KMS", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(passphrase)},
		"Both": {reason: "a passphrase outlives a rotation", wanted: map[string]ceph.Credentials{"a": admin, "b": {UserID: "admin", Key: ceph.NewKey(otherKey)}}, existing: good(passphrase),
			want: []string{"b"}, keeps: true},
		"Removed": {reason: "put right", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(func(s *corev1.Secret) { s.Data = nil }), want: []string{"b"}},
		"Label":   {reason: "the mark says whose it is", wanted: map[string]ceph.Credentials{"a": admin, "b": admin}, existing: good(func(s *corev1.Secret) { s.Labels = nil }), want: []string{"b"}},
		"No key":  {reason: "a Secret without key would stop what runs", wanted: map[string]ceph.Credentials{"a": {UserID: "admin"}, "b": {Key: admin.Key}}},
		"None":    {reason: "nothing is wanted"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range decide(driver.RBD, tc.wanted, tc.existing) {
				got = append(got, s.Name)
				user := tc.wanted[s.Name]
				want := map[string][]byte{"userID": []byte(user.UserID), "userKey": []byte(user.Key.Reveal())}
				if tc.keeps {
					want["encryptionPassphrase"] = []byte("p")
				}
				if diff := cmp.Diff(want, s.Data); diff != "" || s.Namespace != driver.Namespace || !driver.RBD.Owns(s) {
					t.Errorf("%s: Secret %s: -want +got:\n%s", tc.reason, s.Name, diff)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
