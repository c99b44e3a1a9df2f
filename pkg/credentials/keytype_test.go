package credentials

import (
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestChooseKey(t *testing.T) {
	both := []ceph.KeyType{ceph.AES, ceph.AES256}
	tests := map[string]struct {
		reason  string
		wish    ceph.KeyType
		allowed []ceph.KeyType
		want    ceph.KeyType
		bad     string
	}{
		"Old":          {reason: "it would not know the argument"},
		"OldAsked":     {reason: "it has no other", wish: ceph.AES},
		"OldStrong":    {reason: "nobody may believe in keys that are not there", wish: ceph.AES256, bad: "allows keys of type aes only"},
		"Upgraded":     {reason: "nodes may be older than the cluster", allowed: both, want: ceph.AES},
		"UpgradedAsks": {reason: "a person knows the nodes", wish: ceph.AES256, allowed: both, want: ceph.AES256},
		"New":          {reason: "there is no choice", allowed: both[1:], want: ceph.AES256},
		"NewAsksOld":   {reason: "Ceph would refuse the users", wish: ceph.AES, allowed: both[1:], bad: "ceph mon set auth_allowed_ciphers aes,aes256k"},
		"Unknown":      {reason: "a type of the future", allowed: []ceph.KeyType{"rot13"}, bad: "knows none"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input{keyType: tc.wish}
			in.cluster.MonMap.Keys.Allowed = tc.allowed
			got, err := chooseKey(driver.RBD, in)
			if got != tc.want || (err != nil) != (tc.bad != "") || err != nil && !strings.Contains(err.Error(), tc.bad) {
				t.Errorf("got %q, %v; want %q, %q: %s", got, err, tc.want, tc.bad, tc.reason)
			}
		})
	}
}

func (f *fixture) keyTypes(want ceph.KeyType) {
	f.t.Helper()
	for _, id := range f.minted() {
		if user, _ := f.ceph.User(id); user.Key.Type() != want {
			f.t.Errorf("the key of %s is of type %q, want %q", id, user.Key.Type(), want)
		}
	}
}

func TestKeyTypeFollowsTheSetting(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.SetKeyTypes(ceph.AES256, ceph.AES, ceph.AES256)
	f.connect()
	f.sync()
	f.keyTypes(ceph.AES)

	f.settings.KeyType = ceph.AES256
	secrets := f.sync()
	f.keyTypes(ceph.AES256)
	if len(secrets) != 2 {
		t.Errorf("Secrets are %v", secrets)
	}

	f.settings.KeyType = ""
	f.sync()
	f.keyTypes(ceph.AES256)
}

func TestKeyTypeWithoutTheRight(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
	f.ceph.Deny(operatorUser, "auth rotate")
	f.connect()
	f.sync()
	f.settings.KeyType = ceph.AES256
	f.sync()
	f.keyTypes(ceph.AES)
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.SyncError, "ceph auth rotate client.csi-rbd-provisioner.infra --key_type aes256k")
}
