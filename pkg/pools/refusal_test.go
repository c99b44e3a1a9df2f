package pools

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	setsFlags   = "osd pool set"
	setsKeys    = "osd pool application set"
	removesKeys = "osd pool application rm"
)

// claimed are the keys of a claim of the rig's cluster, and the key of the flag or an announcement beside it.
func claimed(more ...string) map[string]string {
	u := user{"infra", "rbd"}
	values := map[string]string{driver.ProtectionKey: flagged, u.change(): announced}
	keys := map[string]string{u.key(): driver.ClaimInUse}
	for _, key := range more {
		keys[key] = values[key]
	}
	return keys
}

// left are those keys where the cluster is about to leave.
func left(more ...string) map[string]string {
	keys := claimed(more...)
	keys[user{"infra", "rbd"}.key()] = leaving
	return keys
}

var change = user{"infra", "rbd"}.change()

// marks gives pools p and q a flag and keys.
func (r *careRig) marks(flag bool, keys map[string]string) {
	for _, name := range []string{"p", "q"} {
		p := ceph.Pool{Name: name, Applications: []string{"rbd"}, NoDelete: flag}
		if keys != nil {
			p.Metadata = map[string]map[string]string{"rbd": maps.Clone(keys)}
		}
		r.ceph.AddPool(p)
	}
}

func (r *careRig) expectMarks(t *testing.T, reason string, flag bool, keys map[string]string) {
	t.Helper()
	for _, p := range r.ceph.Pools() {
		if diff := cmp.Diff(keys, p.Metadata["rbd"]); diff != "" || p.NoDelete != flag {
			t.Errorf("%s: pool %q has flag %t, want %t, and keys (-want +got)\n%s", reason, p.Name, p.NoDelete, flag, diff)
		}
	}
}

// permit reconnects as a user who may do all but that.
func (r *careRig) permit(t *testing.T, denied ...string) {
	t.Helper()
	r.ceph.Deny("u", denied...)
	r.connect(t)
}

// TestRefusals: Ceph makes an epoch, which all clients read, of each write that it does not refuse, also where
// nothing changes. So a refusal costs no writes after the first look. That one leaves no key without the flag: if an
// administrator set that later, it would pass for the operator's.
func TestRefusals(t *testing.T) {
	inUse := classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "q"))
	tests := map[string]struct {
		reason string
		// flag and keys are those of two pools before.
		flag bool
		keys map[string]string
		used []*storagev1.StorageClass
		deny string
		// writes are those of the first look, to both pools.
		writes   map[string]int
		wantFlag bool
		wantKeys map[string]string
	}{
		"Protect": {"both claims are written all the same",
			false, nil, inUse, setsFlags, map[string]int{setsKeys: 2}, false, claimed()},
		"Claimed": {"nothing else may be written",
			false, claimed(), inUse, setsFlags, map[string]int{}, false, claimed()},
		"Announced": {"an operator that had the right was killed before it set the flag",
			false, claimed(change), inUse, setsFlags, map[string]int{removesKeys: 2}, false, claimed()},
		"KeyAlone": {"an older version has written the key",
			false, claimed(change, driver.ProtectionKey), inUse, setsFlags, map[string]int{removesKeys: 4}, false, claimed()},
		"FlagCleared": {"an administrator has cleared the operator's flag",
			false, claimed(driver.ProtectionKey), inUse, setsFlags, map[string]int{setsKeys: 2, removesKeys: 4}, false, claimed()},
		"Release": {"the flag stays the operator's",
			true, claimed(driver.ProtectionKey), nil, setsFlags, map[string]int{}, true, claimed(driver.ProtectionKey)},
		"HalfReleased": {"an operator that had the right was killed before it cleared the flag",
			true, claimed(change), nil, setsFlags, map[string]int{setsKeys: 2}, true, left(change)},
		"KeysStay": {"without the flag, its key would be alone",
			true, claimed(driver.ProtectionKey), nil, removesKeys, map[string]int{setsKeys: 4}, true, left(change, driver.ProtectionKey)},
		"AnnouncementStays": {"the pools are protected all the same",
			false, nil, inUse, removesKeys, map[string]int{setsKeys: 6, setsFlags: 2}, true, claimed(change, driver.ProtectionKey)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD, tc.deny)
			r.marks(tc.flag, tc.keys)
			r.use(t, tc.used)
			first, conditions := r.ceph.Writes(), r.operator.Writes()
			if diff := cmp.Diff(tc.writes, first); diff != "" {
				t.Errorf("%s: writes of the first look (-want +got)\n%s", tc.reason, diff)
			}
			r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.AccessDenied, `each of pools "p", "q" of`)
			r.expectMarks(t, tc.reason, tc.wantFlag, tc.wantKeys)
			r.later(t)
			r.later(t)
			if diff := cmp.Diff(first, r.ceph.Writes()); diff != "" {
				t.Errorf("%s: two further looks write (-none +got)\n%s", tc.reason, diff)
			}
			if r.operator.Writes() != conditions {
				t.Errorf("%s: the message does not stand still", tc.reason)
			}
			r.permit(t)
			r.later(t)
			r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
			if tc.used == nil {
				r.expectMarks(t, "once the user may do it", false, nil)
			} else {
				r.expectMarks(t, "once the user may do it", true, claimed(driver.ProtectionKey))
			}
		})
	}
}

// TestAdministratorsFlagAfterARefusal: whoever may not set the flag has nothing to do with one that somebody else sets.
func TestAdministratorsFlagAfterARefusal(t *testing.T) {
	for name, keys := range map[string]map[string]string{
		"New": nil, "Announced": claimed(change), "KeyAlone": claimed(change, driver.ProtectionKey), "FlagCleared": claimed(driver.ProtectionKey),
	} {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD, setsFlags)
			r.marks(false, keys)
			inUse := classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "q"))
			r.use(t, inUse)
			r.ceph.SetNoDelete("p", true)
			r.ceph.SetNoDelete("q", true)
			r.later(t)
			r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
			r.expectMarks(t, "the flag is an administrator's", true, claimed())
			r.permit(t)
			r.use(t, inUse)
			r.use(t, nil)
			r.expectMarks(t, "an administrator's flag stays", true, nil)
		})
	}
}

// TestBesideAnOlderVersion: one that may not set the flag either writes its key with each look, and stays announced. Taking the
// key away each time would cost epochs for ever.
func TestBesideAnOlderVersion(t *testing.T) {
	r := newCareRig(t, driver.RBD, setsFlags)
	older := user{"older", "rbd"}
	keys := claimed(driver.ProtectionKey)
	keys[older.key()], keys[older.change()] = driver.ClaimInUse, announced
	r.marks(false, keys)
	r.use(t, classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "q")))
	if diff := cmp.Diff(map[string]int{}, r.ceph.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.AccessDenied, `each of pools "p", "q" of`)
}

// TestOutcomes: people are told what the pool is, not what was tried.
func TestOutcomes(t *testing.T) {
	u := user{"infra", "rbd"}
	for name, tc := range map[string]struct {
		flag   bool
		keys   map[string]string
		wanted wishes
		want   string
	}{
		"Unclaimed":          {false, nil, kept, "can be removed although it is in use, and users"},
		"UnclaimedProtected": {true, nil, kept, "has no claim of this cluster"},
		"Unprotected":        {false, claimed(), kept, "can be removed although it is in use"},
		"Disabled":           {true, claimed(driver.ProtectionKey), used, "keeps its nodelete flag although ceph.poolProtection is Disabled"},
		"Announced":          {true, claimed(driver.ProtectionKey, change), kept, "keeps a note"},
		"Released":           {true, claimed(driver.ProtectionKey), gone, "keeps its nodelete flag although it is no longer in use"},
		"Orphaned":           {true, map[string]string{driver.ProtectionKey: flagged}, gone, "keeps its nodelete flag although it is no longer in use"},
		"Claimed":            {false, claimed(), gone, "keeps this cluster's claim"},
	} {
		p := ceph.Pool{Name: "p", Applications: []string{"rbd"}, NoDelete: tc.flag, Metadata: map[string]map[string]string{"rbd": tc.keys}}
		if got := undone(p, u, tc.wanted); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

// blind has a Ceph that answers trials as no other does.
type blind struct{ Cluster }

func (blind) Try(context.Context, ceph.Trial) error { return errors.New("what is that?") }

// TestUnclearTrial: where a trial does not tell, the command does.
func TestUnclearTrial(t *testing.T) {
	r := newCareRig(t, driver.RBD, setsFlags)
	r.client = blind{r.client}
	r.marks(false, nil)
	inUse := classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "q"))
	r.use(t, inUse)
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.AccessDenied, `each of pools "p", "q" of`)
	first := r.ceph.Writes()
	r.later(t)
	if diff := cmp.Diff(first, r.ceph.Writes()); diff != "" {
		t.Errorf("a further look writes (-none +got)\n%s", diff)
	}
	r.expectMarks(t, "no key without the flag", false, claimed(change))
	r.permit(t)
	r.client = blind{r.client}
	r.later(t)
	r.expectMarks(t, "once the user may do it", true, claimed(driver.ProtectionKey))
}

// TestClaimOfAPlaceWithoutProtection: of a user who may not set the flag, the claim is all.
func TestClaimOfAPlaceWithoutProtection(t *testing.T) {
	r := newRig(t, driver.RBD, []string{setsFlags})
	r.sync(t)
	writes := map[string]int{"osd pool create": 1, "osd pool application enable": 1, setsKeys: 1}
	if diff := cmp.Diff(writes, r.ceph.Writes()); diff != "" {
		t.Errorf("writes to Ceph (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(claimed(), r.ceph.Pools()[0].Metadata["rbd"]); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
