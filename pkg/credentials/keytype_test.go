package credentials

import (
	"context"
	"fmt"
	"strings"
	"syscall"
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
		image   string
		want    ceph.KeyType
		bad     string
	}{
		"Old":          {reason: "it would not know the argument"},
		"OldAsked":     {reason: "it has no other", wish: ceph.AES},
		"OldStrong":    {reason: "it does not know the command that allows others", wish: ceph.AES256, bad: "knows keys of type aes only, as all before 20.2.4 or 19.2.6: choose that, or upgrade Ceph"},
		"AsksForNew":   {reason: "it may have been taken away", wish: ceph.AES256, allowed: both[:1], bad: "allow the other with: ceph mon set auth_allowed_ciphers aes,aes256k"},
		"Upgraded":     {reason: "nodes may be older than the cluster", allowed: both, want: ceph.AES},
		"UpgradedAsks": {reason: "a person knows the nodes", wish: ceph.AES256, allowed: both, want: ceph.AES256},
		"New":          {reason: "there is no choice", allowed: both[1:], want: ceph.AES256},
		"NewAsksOld":   {reason: "Ceph would refuse the users", wish: ceph.AES, allowed: both[1:], bad: "ceph mon set auth_allowed_ciphers aes,aes256k"},
		"OldDriver":    {reason: "it knows these", allowed: both, image: "cephcsi:v3.15.0", want: ceph.AES},
		"NoneFits":     {reason: "users that nobody can use help nobody", allowed: both[1:], image: "cephcsi:v3.15.0", bad: "or allow keys of type aes (ceph mon set auth_allowed_ciphers aes,aes256k, "},
		"AsksTooMuch":  {reason: "every call would fail", wish: ceph.AES256, allowed: both, image: "cephcsi:v3.16.2", bad: "cephcsi:v3.16.2 is older than ceph-csi 3.16.3 or 3.17.1; deploy a newer one, or set spec.driverConfig.ceph.keyType of ClusterCSIDriver rbd.csi.ceph.com to aes"},
		"NewDriver":    {reason: "all fits", wish: ceph.AES256, allowed: both, image: "cephcsi:v3.16.3", want: ceph.AES256},
		"Unknown":      {reason: "a type of the future", allowed: []ceph.KeyType{"rot13"}, bad: "knows none"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := input{keyType: tc.wish, image: tc.image}
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

// TestKeyThatWorksIsLeftAlone: volumes are mounted with it. What the mons accept beside what the monmap allows is
// known to them only.
func TestKeyThatWorksIsLeftAlone(t *testing.T) {
	tests := map[string]struct {
		reason    string
		allowed   []ceph.KeyType
		emergency []ceph.KeyType
		wish      ceph.KeyType
		want      ceph.KeyType
	}{
		"Allowed":      {reason: "the mons accept it", allowed: []ceph.KeyType{ceph.AES, ceph.AES256}, want: ceph.AES},
		"Taken":        {reason: "the mons do not accept it any more", allowed: []ceph.KeyType{ceph.AES256}, want: ceph.AES256},
		"Rescued":      {reason: "the mons accept it all the same", allowed: []ceph.KeyType{ceph.AES256}, emergency: []ceph.KeyType{ceph.AES}, want: ceph.AES},
		"RescuedOther": {reason: "that is another type", allowed: []ceph.KeyType{ceph.AES256}, emergency: []ceph.KeyType{ceph.AES256}, want: ceph.AES256},
		"Asked":        {reason: "somebody wants another", allowed: []ceph.KeyType{ceph.AES256}, emergency: []ceph.KeyType{ceph.AES}, wish: ceph.AES256, want: ceph.AES256},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
			f.connect()
			f.sync()
			before := f.ceph.Credentials(f.config.Driver.NodeUser("infra")).Key.Reveal()

			f.ceph.SetKeyTypes(ceph.AES256, tc.allowed...)
			f.ceph.StartWithEmergencyCiphers(tc.emergency...)
			f.ceph.AddUser(operatorUser)
			f.connect()
			f.settings.KeyType = tc.wish
			f.sync()
			f.later()
			f.keyTypes(tc.want)
			if kept := f.ceph.Credentials(f.config.Driver.NodeUser("infra")).Key.Reveal() == before; kept != (tc.want == ceph.AES) {
				t.Errorf("%s: the node user has its key still: %t", tc.reason, kept)
			}
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
		})
	}
}

// TestKeyThatCannotBeTried: whoever cannot tell whether a key works does not give out another.
func TestKeyThatCannotBeTried(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		// told is what the condition says; empty where pkg/connection tells.
		told string
		want ceph.KeyType
	}{
		"Silent":  {"an outage says nothing of keys", ceph.ErrUnreachable, "trying whether the key of client.csi-rbd-provisioner.infra still works", ceph.AES},
		"Unknown": {"librados is too old to try it", ceph.ErrKeyType, "trying whether the key of client.csi-rbd-provisioner.infra still works", ceph.AES},
		"Denied":  {"the mons have let it in", ceph.ErrDenied, "", ceph.AES},
		"Refused": {"it does not work", ceph.ErrWrongKey, "", ceph.AES256},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.config.Dial = func(context.Context, ceph.Source) (Session, error) { return nil, fmt.Errorf("connecting: %w", tc.err) }
			f.restart()
			f.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
			f.connect()
			f.sync()
			f.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
			f.ceph.AddUser(operatorUser)
			f.connect()
			f.sync()
			f.keyTypes(tc.want)
			if got := f.operator.Condition(condition.CredentialsDegraded); !strings.Contains(got.Message, tc.told) || (tc.told == "") != (got.Status == operatorv1.ConditionFalse) {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
		})
	}
}

// TestKeyIsTriedWithItsCaps: somebody took those for mons away, without which nobody is let in, with whatever key.
func TestKeyIsTriedWithItsCaps(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.SetKeyTypes(ceph.AES, ceph.AES, ceph.AES256)
	f.connect()
	f.sync()
	node := f.config.Driver.NodeUser("infra")
	before := f.ceph.Credentials(node).Key.Reveal()
	f.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
	f.ceph.StartWithEmergencyCiphers(ceph.AES)
	f.ceph.AddUser(operatorUser)
	f.ceph.SetCaps(node, ceph.Caps{OSD: "allow r"})
	f.connect()
	f.sync()
	f.later()
	if f.ceph.Credentials(node).Key.Reveal() != before {
		t.Error("the key is another one")
	}
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

// TestWeakKeysRefused: mons may be told to make no keys of type aes while they still accept them. That is no
// matter of the user's rights, so that nobody gets the operator's own for it.
func TestWeakKeysRefused(t *testing.T) {
	const stronger = "spec.driverConfig.ceph.keyType of ClusterCSIDriver rbd.csi.ceph.com to aes256k"
	const weaker = "ceph config set mon mon_auth_allow_insecure_key true"
	both := []ceph.KeyType{ceph.AES, ceph.AES256}
	tests := map[string]struct {
		reason  string
		allowed []ceph.KeyType
		errno   syscall.Errno
		wish    ceph.KeyType
		// before is the type of the keys that the users have; empty where there are none yet.
		before ceph.KeyType
		// advised says that both ways out are named.
		advised bool
	}{
		"Invalid":  {reason: "as mons answer", allowed: both, errno: syscall.EINVAL, advised: true},
		"Denied":   {reason: "as the command itself does", allowed: both, errno: syscall.EPERM, advised: true},
		"Asked":    {reason: "the setting is one of the two things to change", allowed: both, errno: syscall.EINVAL, wish: ceph.AES, advised: true},
		"Turned":   {reason: "nor does an administrator's command make one", allowed: both, errno: syscall.EPERM, wish: ceph.AES, before: ceph.AES256, advised: true},
		"Existing": {reason: "keys that are there work", allowed: both, errno: syscall.EINVAL, before: ceph.AES},
		"Strong":   {reason: "these are made", allowed: both, errno: syscall.EINVAL, wish: ceph.AES256},
		"Other":    {reason: "that is not about keys", allowed: both, errno: syscall.EBUSY},
		"OneType":  {reason: "there is no other to choose", allowed: both[:1], errno: syscall.EINVAL},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.ceph.SetKeyTypes(ceph.AES256, tc.allowed...)
			f.connect()
			if tc.before != "" {
				f.settings.KeyType = tc.before
				f.sync()
				f.keyTypes(tc.before)
			}
			f.ceph.RefuseWeakKeys(tc.errno)
			f.settings.KeyType = tc.wish
			f.later()
			got := f.operator.Condition(condition.CredentialsDegraded)
			if named := strings.Contains(got.Message, stronger) && strings.Contains(got.Message, weaker); named != tc.advised {
				t.Errorf("%s: got %s, %s", tc.reason, got.Reason, got.Message)
			}
			if !tc.advised {
				return
			}
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.SyncError, "cannot create key of insecure type aes", "Linux 7", driver.StrongReleases)
			if said := f.operator.Condition(condition.CredentialsMinted); said != nil && said.Reason == condition.Passthrough {
				t.Errorf("%s: the operator's user is passed on: %s", tc.reason, said.Message)
			}
			f.ceph.RefuseWeakKeys(0)
			f.later()
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)
			f.keyTypes(ceph.AES)
		})
	}
}

// TestDoubt: what a kernel's version tells is no proof, so that users are made all the same.
func TestDoubt(t *testing.T) {
	weak := map[string]string{"a": "5.14.0-427.el9.x86_64", "b": "7.0.1"}
	many := map[string]string{"a": "6.1", "b": "6.2", "c": "6.3", "d": "6.4", "e": "6.5"}
	tests := map[string]struct {
		reason  string
		strong  bool
		image   string
		kernels map[string]string
		want    string
		never   string
	}{
		"Weak":      {reason: "everybody knows the keys", kernels: weak, image: "cephcsi:v3.15.0", never: "keys"},
		"Known":     {reason: "all are new enough", strong: true, kernels: map[string]string{"b": "7.0.1"}, never: "keys"},
		"NotYet":    {reason: "the nodes are not known", strong: true, never: "keys"},
		"Kernel":    {reason: "one node is older", strong: true, kernels: weak, want: "may not be known to the kernels of nodes a (5.14.0-427.el9.x86_64), only to Linux 7", never: "b ("},
		"Many":      {reason: "a sentence has an end", strong: true, kernels: many, want: "nodes a (6.1), b (6.2), c (6.3), 2 others, only", never: "d ("},
		"OldDriver": {reason: "it was put back", strong: true, image: "cephcsi:v3.15.0", want: "may not be known to driver cephcsi:v3.15.0, only"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			kind := ceph.AES
			if tc.strong {
				kind = ceph.AES256
			}
			f.ceph.SetKeyTypes(kind, ceph.AES, ceph.AES256)
			f.ceph.AddUser("u")
			got := doubt(input{image: tc.image, kernels: tc.kernels}, "mend it", f.ceph.Credentials("u"))
			if !strings.Contains(got, tc.want) || tc.want == "" && got != "" || tc.never != "" && strings.Contains(got, tc.never) && tc.want != "" {
				t.Errorf("got %q, want %q without %q: %s", got, tc.want, tc.never, tc.reason)
			}
		})
	}
}

func TestOldKernels(t *testing.T) {
	for _, mode := range []driver.CredentialsMode{driver.CredentialsMint, driver.CredentialsPassthrough} {
		t.Run(string(mode), func(t *testing.T) {
			f := newFixture(t, driver.CephFS)
			f.settings.Credentials = mode
			f.sync()
			if f.asked > 0 {
				t.Error("the nodes were asked for, though every kernel knows the keys")
			}

			f.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
			f.ceph.AddUser(operatorUser)
			f.connect()
			f.kernels = map[string]string{"a": "6.12.0"}
			f.later()
			minted := operatorv1.ConditionTrue
			reason := condition.AsExpected
			if mode == driver.CredentialsPassthrough {
				minted, reason = operatorv1.ConditionFalse, condition.Passthrough
			}
			f.expect(condition.CredentialsMinted, minted, reason, "a (6.12.0)", "ceph")
			f.expect(condition.CredentialsDegraded, operatorv1.ConditionFalse, condition.AsExpected)

			f.kernels = map[string]string{"a": "7.1.0"}
			f.sync()
			if said := f.operator.Condition(condition.CredentialsMinted); said != nil && strings.Contains(said.Message, "Linux") {
				t.Errorf("the node has another kernel by now: %s", said.Message)
			}
		})
	}
}

func TestDriverTooOld(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.config.Image = "cephcsi:v3.16.2"
	f.restart()
	f.ceph.SetKeyTypes(ceph.AES256, ceph.AES256)
	f.ceph.AddUser(operatorUser)
	f.connect()
	if secrets := f.sync(); len(secrets) > 0 {
		t.Errorf("Secrets %v have users that nobody can use", secrets)
	}
	f.expect(condition.CredentialsDegraded, operatorv1.ConditionTrue, condition.SyncError, "keys of type aes256k fit no driver in use: cephcsi:v3.16.2")
}
