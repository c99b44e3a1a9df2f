package pools

import (
	"errors"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

func TestWithdraws(t *testing.T) {
	const own, other = driver.ClaimPrefix + "infra.rbd", driver.ClaimPrefix + "other.rbd"
	tests := map[string]struct {
		reason string
		keys   map[string]string
		wanted wishes
		want   bool
	}{
		"Claim":     {"the claim goes", map[string]string{own: driver.ClaimInUse}, gone, true},
		"Leaving":   {"what was begun is finished", map[string]string{own: leaving}, gone, true},
		"None":      {"nothing is ours", map[string]string{other: driver.ClaimInUse, driver.ProtectionKey: flagged}, gone, false},
		"Flag":      {"of a flag that nobody needs", map[string]string{driver.ProtectionKey: flagged}, gone, true},
		"Leaver":    {"somebody else releases the flag", map[string]string{driver.ProtectionKey: flagged, other: leaving}, gone, false},
		"Kept":      {"in use", map[string]string{own: driver.ClaimInUse}, kept, false},
		"Right":     {"only other drivers use it: the right goes", map[string]string{own: driver.ClaimInUse}, held, true},
		"Held":      {"only other drivers used it before", map[string]string{own: driver.ClaimOthers}, held, false},
		"Unflagged": {"a person said so", map[string]string{own: driver.ClaimInUse, driver.ProtectionKey: flagged}, used, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := ceph.Pool{Name: "p", Applications: []string{"rbd"}, Metadata: map[string]map[string]string{"rbd": tc.keys}}
			if got := withdraws(read(p, user{"infra", "rbd"}), tc.wanted); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

// unusedSince is a rig whose pool "p" was claimed for a class that has gone since.
func unusedSince(t *testing.T) *careRig {
	t.Helper()
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	r.expectFlagged(t, "in use", "p")
	return r
}

func TestNothingIsReleasedWithoutProof(t *testing.T) {
	r := unusedSince(t)
	if r.proof.waits {
		t.Error("looks are taken although nothing waits")
	}
	r.proof.fail = proof.ErrNotYet
	r.use(t, nil)
	begin := r.clock.Now()
	r.later(t)
	r.expectFlagged(t, "it was not seen twice", "p")
	if flag, keys := marked(t, r.ceph, "p"); !flag || len(keys) != 2 {
		t.Errorf("the claim is taken without proof: %q", keys)
	}
	if !r.proof.waits || r.proof.since != begin {
		t.Errorf("waits %t since %v, want since %v", r.proof.waits, r.proof.since, begin)
	}
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected, `pools "p"`, "released once that has been seen twice, 10m0s apart")
	writes := r.operator.Writes()
	r.later(t)
	if r.operator.Writes() != writes {
		t.Error("the condition is written again while nothing changes")
	}
	r.proof.fail = errors.New("PersistentVolumes cannot be listed")
	r.later(t)
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected, "nothing is released because that is no proof: PersistentVolumes cannot be listed")
	r.proof.fail = nil
	r.clock.SetTime(r.clock.Now().Add(time.Second))
	r.proof.Set(r.clock.Now())
	r.sync(t)
	r.expectFlagged(t, "seen twice, and looked at at once")
	if r.later(t); r.proof.waits {
		t.Error("nothing waits any more")
	}
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
}

// TestProofOfALookThatBeganBefore: reading thousands of volumes takes longer than a look at pools.
func TestProofOfALookThatBeganBefore(t *testing.T) {
	r := unusedSince(t)
	r.proof.fail = proof.ErrNotYet
	r.use(t, nil)
	begun := r.clock.Now()
	r.later(t)
	r.proof.fail = nil
	r.proof.Set(begun)
	r.sync(t)
	r.expectFlagged(t, "proven since the last look at pools, which came after the begin of the proof's")
}

func TestUseAgainBeginsAnew(t *testing.T) {
	r := unusedSince(t)
	r.proof.fail = proof.ErrNotYet
	r.use(t, nil)
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	if r.proof.waits {
		t.Error("it is in use again")
	}
	r.use(t, nil)
	if r.proof.since != r.clock.Now() {
		t.Errorf("looks from before its last use count: since %v", r.proof.since)
	}
}

func TestWhatTheLooksSawStays(t *testing.T) {
	r := unusedSince(t)
	r.proof.looks = []usage.Usage{use(driver.RBD, nil, provisioned(driver.RBD, 1, "pool", "p"))}
	r.use(t, nil)
	r.expectFlagged(t, "a cache that lost a volume", "p")
	r.proof.looks = []usage.Usage{use(driver.RBD, nil, others("rook-ceph.rbd.csi.ceph.com", cephtest.FSID, 1, map[string]string{"pool": "p"}))}
	r.later(t)
	r.expectFlagged(t, "Rook's volume", "p")
	r.proof.looks = nil
	r.later(t)
	r.expectFlagged(t, "no look saw it in use")
}

// TestRightStaysWhileALookIsUnsure: the caps of the users go by the right.
func TestRightStaysWhileALookIsUnsure(t *testing.T) {
	r := unusedSince(t)
	r.config.Usage.Set(use(driver.RBD, nil,
		others("rook-ceph.rbd.csi.ceph.com", cephtest.FSID, 1, map[string]string{"pool": "p"}), provisioned(driver.RBD, 99, "pool", "lost")))
	r.proof.fail = proof.ErrNotYet
	r.later(t)
	for _, p := range r.ceph.Pools() {
		if p.Name == "p" && !driver.GivesRight(p, driver.ClaimKey("infra", "rbd")) {
			t.Errorf("the right to pool p is withdrawn without proof, as another pool is lost: %v", p.Metadata)
		}
	}
}

// expectLasts: what Ceph has said is said until it is asked again, though the proof is not fresh any more.
func (r *careRig) expectLasts(t *testing.T, text string) {
	t.Helper()
	writes := r.operator.Writes()
	before, _ := r.controller.Report.Get()
	r.proof.fail = proof.ErrNotYet
	r.later(t)
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected, text)
	if r.operator.Writes() != writes {
		t.Errorf("the condition is written again while nothing changes: %q", r.operator.Condition(condition.PoolsProtected).Message)
	}
	r.expectReport(t, before)
	r.proof.fail = nil
}

// TestRestoredFromYesterday: the API server lost what Ceph has.
func TestRestoredFromYesterday(t *testing.T) {
	r := unusedSince(t)
	image := ceph.ImagePlace{Pool: "p", Name: "csi-vol-1"}
	r.ceph.AddImage(image, ceph.TagCluster, "infra")
	r.use(t, nil)
	r.expectFlagged(t, "an image has this cluster's tag", "p")
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected,
		`pools "p"`, "has no PersistentVolume or VolumeSnapshotContent", "image p/csi-vol-1")
	r.expectLasts(t, "has no PersistentVolume or VolumeSnapshotContent")
	r.ceph.RemoveImage(image)
	r.ceph.AddImage(image, ceph.TagCluster, "another")
	r.later(t)
	r.expectFlagged(t, "the image is another cluster's")
}

func TestRestoredFromYesterdayWithDataElsewhere(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "data", Applications: []string{"rbd"}, ErasureCoded: true, Overwrites: true})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p", "dataPool", "data")))
	image := ceph.ImagePlace{Pool: "p", Name: "csi-vol-1"}
	r.ceph.AddImage(image, ceph.TagCluster, "infra")
	r.ceph.SetDataPool(image, "data")
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	r.expectFlagged(t, "the image has its data there", "data", "p")
}

func TestRestoredFromYesterdayFilesystem(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("f", true)
	r.use(t, classes(class(driver.CephFS, "c", "fsName", "f")))
	r.expectFlagged(t, "in use", "f-data", "f-metadata")
	subvolume := ceph.SubvolumePlace{Filesystem: "f", Name: "csi-vol-1"}
	r.ceph.AddSubvolume(subvolume, ceph.TagCluster, "infra")
	r.use(t, nil)
	r.expectFlagged(t, "a subvolume has this cluster's tag", "f-data", "f-metadata")
	r.ceph.SetActive("f", false)
	r.ceph.RemoveSubvolume(subvolume)
	r.later(t)
	r.expectFlagged(t, "nobody can tell", "f-data", "f-metadata")
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected, "nobody can tell whose the volumes there are")
	r.expectLasts(t, "nobody can tell whose the volumes there are")
	r.ceph.SetActive("f", true)
	r.later(t)
	r.expectFlagged(t, "nothing is there")
}

// TestProtectionDisabledAtOnce: a person's word needs no proof.
func TestProtectionDisabledAtOnce(t *testing.T) {
	r := unusedSince(t)
	r.proof.fail = proof.ErrNotYet
	r.settings.PoolProtection = driver.PoolsUnprotected
	r.later(t)
	r.expectFlagged(t, "a person said so")
}
