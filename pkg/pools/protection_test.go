package pools

import (
	"context"
	"slices"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

func TestPoolsInUseAreProtected(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	for _, name := range []string{"class", "data", "volume", "renamed", "old", "default", "unused"} {
		r.ceph.AddPool(ceph.Pool{Name: name, Applications: []string{"rbd"}})
	}
	r.ceph.RenamePool("renamed", "other")
	r.config.Placement.Set(ceph.Placement{FSID: cephtest.FSID, Pool: "default"})
	legacy := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		RBD: &corev1.RBDPersistentVolumeSource{RBDPool: "old", CephMonitors: []string{"10.20.0.2:6789"}},
	}}}
	r.use(t, classes(class(driver.RBD, "c", "pool", "class", "dataPool", "data")),
		provisioned(driver.RBD, 3, "pool", "volume"), provisioned(driver.RBD, 4, "pool", "renamed"), legacy)
	all := []string{"class", "data", "default", "old", "other", "volume"}
	r.expectFlagged(t, "in use by class, handle, in-tree volume and default placement", all...)
	old := r.ceph.Pools()[slices.IndexFunc(r.ceph.Pools(), func(p ceph.Pool) bool { return p.Name == "old" })]
	if driver.GivesRight(old, driver.ClaimKey("infra", driver.RBD.Kind)) {
		t.Errorf("the driver's users have nothing to do with in-tree volumes, and have a right to their pool: %v", old.Metadata)
	}
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
	r.expect(t, condition.LegacyVolumes, operatorv1.ConditionTrue, condition.OlderVolumes, `1 PersistentVolume`, `1 of in-tree rbd in pool "old"`)
	r.expectReport(t, Report{Missing: map[string][]string{}, Protected: map[string][]string{cephtest.FSID: all}, Unprotected: map[string][]string{}})
	writes, conditions := r.writes(), r.operator.Writes()
	r.later(t)
	if r.writes() != writes || r.operator.Writes() != conditions {
		t.Error("a second look writes")
	}

	r.use(t, nil)
	r.expectFlagged(t, "the last users are gone, but the default class's pool is the next volume's", "default")
	r.expect(t, condition.LegacyVolumes, "", "")
}

func TestFilesystemPoolsAreProtected(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.ceph.AddFileSystem("b", true)
	r.use(t, nil, provisioned(driver.CephFS, 2, "fsName", "once"))
	r.expectFlagged(t, "the filesystem is known by its ID", "b-data", "b-metadata")
	r.use(t, nil, &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{
		CephFS: &corev1.CephFSPersistentVolumeSource{Monitors: []string{"1.2.3.4"}},
	}}})
	r.expectFlagged(t, "in-tree volumes are in the default filesystem, wherever the mons are now", "a-data", "a-metadata")
}

// TestSnapshotsKeepTheirPool: they may outlive class and volume, and are restored from.
func TestSnapshotsKeepTheirPool(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	snapshot := provisioned(driver.RBD, 1).Spec.CSI.VolumeHandle
	r.config.Usage.Set(usage.Of(driver.RBD, nil, nil, nil, usage.Snapshot{Driver: driver.RBD.Name, Handle: snapshot}, usage.Snapshot{Driver: driver.RBD.Name, Handle: "nonsense"}))
	r.later(t)
	r.expectFlagged(t, "a snapshot is left", "p")
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionTrue, condition.AsExpected)
	r.use(t, nil)
	r.expectFlagged(t, "the last snapshot has gone")
}

// TestJournalsKeepTheirPool: volumes cannot be deleted without their journal, whatever else the pool is for.
func TestJournalsKeepTheirPool(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "files", Applications: []string{"cephfs"}})
	named := classes(class(driver.RBD, "c", "pool", "p", "journalPool", "files"))
	r.use(t, named)
	r.expectFlagged(t, "no volume has its journal in somebody else's pool", "p")
	r.use(t, named, provisioned(driver.RBD, 1, "pool", "p", "journalPool", "files"))
	r.expectFlagged(t, "a volume has", "files", "p")
	r.use(t, named)
	r.expectFlagged(t, "it has gone", "p")
}

// TestSnapshotsKeepTheirDataPool: the handle of a snapshot tells the pool of its header alone. Its data
// is where that of its volume was, in an erasure-coded pool that nothing else names any more.
func TestSnapshotsKeepTheirDataPool(t *testing.T) {
	for name, servedBy := range map[string]string{"ours": driver.RBD.Name, "Rook's": "rook-ceph." + driver.RBD.Name} {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD)
			r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
			r.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true, Overwrites: true})
			r.ceph.AddPool(ceph.Pool{Name: "theirs", Applications: []string{"rbd"}, ErasureCoded: true, Overwrites: true})
			pv := provisioned(driver.RBD, 1, "pool", "p", "dataPool", "ec")
			pv.Spec.CSI.Driver = servedBy
			r.use(t, nil, pv)
			r.expectFlagged(t, "in use by a volume", "ec", "p")
			claim := func() string { return r.ceph.Pools()[1].Metadata["rbd"][driver.ClaimKey("infra", "rbd")] }
			before := claim()
			r.config.Usage.Set(usage.Of(driver.RBD, nil, nil, nil, usage.Snapshot{Driver: servedBy, Handle: pv.Spec.CSI.VolumeHandle}))
			r.later(t)
			r.expectFlagged(t, "a snapshot is left", "ec", "p")
			r.start()
			r.later(t)
			r.expectFlagged(t, "also after a restart", "ec", "p")
			if after := claim(); after != before {
				t.Errorf("the claim, which gives the right, was %q and is %q", before, after)
			}
			r.settings.PoolProtection = driver.PoolsUnprotected
			r.later(t)
			r.expectFlagged(t, "unprotected")
			r.settings.PoolProtection = driver.PoolsProtected
			r.later(t)
			r.use(t, nil)
			r.expectFlagged(t, "the last snapshot has gone")
			if after := claim(); after != "" {
				t.Errorf("the claim %q is left", after)
			}
		})
	}
}

func TestReleaseAfterRestart(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	r.expectFlagged(t, "in use", "p")
	r.start()
	r.config.Usage.Clear()
	r.later(t)
	r.expectFlagged(t, "until classes and volumes are known, nothing is released", "p")
	r.open = true
	r.use(t, nil)
	r.expectFlagged(t, "until the default place is known, nothing is released", "p")
	r.open = false
	r.operator.SetState(operatorv1.Unmanaged)
	r.later(t)
	r.expectFlagged(t, "Unmanaged means no write to Ceph", "p")
	r.operator.SetState(operatorv1.Managed)
	r.later(t)
	r.expectFlagged(t, "the use ended while the operator was down")
}

func TestOtherUsersKeepTheFlag(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "admins", Applications: []string{"rbd"}, NoDelete: true})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "admins")))
	if _, keys := marked(t, r.ceph, "admins"); !slices.Equal(keys, []string{"rbd:" + driver.ClaimKey("infra", "rbd")}) {
		t.Errorf("without its claim, the driver has no right to the pool: %q", keys)
	}
	other := user{"other", "rbd"}
	if _, err := mark(t.Context(), r.client, r.ceph.Pools(), 1, other, kept); err != nil {
		t.Fatal(err)
	}
	r.use(t, nil)
	r.expectFlagged(t, "another OpenShift cluster uses the pool, and an administrator set the other flag", "admins", "p")
	if _, keys := marked(t, r.ceph, "admins"); len(keys) != 0 {
		t.Errorf("an administrator's flag is taken over, or the claim is left: %q", keys)
	}
	if _, err := mark(t.Context(), r.client, r.ceph.Pools(), 1, other, gone); err != nil {
		t.Fatal(err)
	}
	r.expectFlagged(t, "the last user has gone", "admins")
}

func TestProtectionDisabled(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	r.settings.PoolProtection = driver.PoolsUnprotected
	r.later(t)
	r.expectFlagged(t, "released")
	if got := r.ceph.Pools()[0].Metadata["rbd"]; len(got) != 1 || got[driver.ClaimKey("infra", "rbd")] != driver.ClaimUnprotected {
		t.Errorf("the claim stays for the rights that it gives: %q", got)
	}
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.ProtectionDisabled, "poolProtection is Disabled")
	r.expectReport(t, Report{Missing: map[string][]string{}, Protected: map[string][]string{}, Unprotected: map[string][]string{}})
	r.use(t, nil)
	if _, keys := marked(t, r.ceph, "p"); len(keys) != 0 {
		t.Errorf("keys are left: %q", keys)
	}
}

func TestProtectionDenied(t *testing.T) {
	r := newCareRig(t, driver.RBD, "osd pool application set")
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "q", Applications: []string{"rbd"}})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "q")))
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.AccessDenied,
		`pools "p", "q"`, "client.u", `allow command "osd pool set" with var=nodelete`, "only after the driver's pods were restarted, or an hour")
	r.expectProblems(t, "the classes work all the same")
	r.expectReport(t, Report{
		Missing: map[string][]string{}, Protected: map[string][]string{}, Unprotected: map[string][]string{cephtest.FSID: {"p", "q"}},
	})
	if types := r.operator.Types(); !slices.Equal(types, []string{condition.PoolsProtected, condition.VolumePlacesPresent}) {
		t.Errorf("conditions %q: nothing else follows", types)
	}
	conditions := r.operator.Writes()
	r.later(t)
	if r.operator.Writes() != conditions {
		t.Error("the same refusal is written again")
	}
	r.ceph.Deny("u")
	r.connect(t)
	r.sync(t)
	r.expectFlagged(t, "over a new connection it is tried at once", "p", "q")
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionTrue, condition.AsExpected)
}

func TestManyPoolsTakeSeveralLooks(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	l := look{
		Care: &Care{CareConfig: r.config}, client: r.client, cluster: ceph.Cluster{FSID: cephtest.FSID},
		demand: demand{user: user{"u", "rbd"}, protect: true}, has: driver.Inventory{Pools: r.ceph.Pools()},
	}
	short, cancel := context.WithTimeout(t.Context(), markReserve/2)
	defer cancel()
	if err := l.mark(short, map[int64]wishes{1: kept}); err != nil {
		t.Fatal(err)
	}
	r.expectFlagged(t, "there is too little time to finish")
	v := view{client: r.client, found: &l.found, at: r.clock.Now()}
	if l.found.waiting != 1 || !l.found.wrong() || v.due(r.client, r.clock.Now(), time.Time{}, false) != 0 {
		t.Errorf("found %+v: the next look is due at once", l.found)
	}
}

func TestPoolWithoutApplication(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p"})
	r.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	r.expect(t, condition.PoolsProtected, operatorv1.ConditionFalse, condition.NotProtected, "ceph osd pool application enable p rbd")
	if r.writes() != 0 {
		t.Errorf("wrote %v", r.ceph.Writes())
	}
}

// TestUsed: the operator shows that it runs wherever the cluster has something, also where it may not
// claim the pool, or where nothing may be written just now.
func TestUsed(t *testing.T) {
	used := func(r *careRig, reason string, want ...string) {
		t.Helper()
		got, _ := r.controller.Used.Get()
		if !slices.Equal(got[cephtest.FSID], want) {
			t.Errorf("%s: in use %q, want %q", reason, got, want)
		}
	}
	r := newCareRig(t, driver.RBD)
	for _, name := range []string{"a", "b", "unused"} {
		r.ceph.AddPool(ceph.Pool{Name: name, Applications: []string{"rbd"}})
	}
	r.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true, Overwrites: true})
	r.sync(t)
	if _, known := r.controller.Used.Get(); !known {
		t.Error("what is claimed is not known before what is used is")
	}
	r.use(t, classes(class(driver.RBD, "c", "pool", "a", "dataPool", "ec"), class(driver.RBD, "d", "pool", "b")))
	used(r, "two classes, and a pool of data alone", "a", "b")
	r.ceph.Stop()
	r.use(t, nil)
	used(r, "nothing is released while Ceph is silent", "a", "b")
	r.ceph.Start()
	r.use(t, classes(class(driver.RBD, "d", "pool", "b")))
	used(r, "a class is gone", "b")

	again := newCareRig(t, driver.RBD)
	again.ceph = r.ceph
	again.connect(t)
	again.operator.SetState(operatorv1.Unmanaged)
	again.use(t, classes(class(driver.RBD, "c", "pool", "a")))
	used(again, "an unmanaged cluster lives", "b")

	denied := newCareRig(t, driver.RBD, "osd pool application set")
	denied.ceph.AddPool(ceph.Pool{Name: "a", Applications: []string{"rbd"}})
	denied.use(t, classes(class(driver.RBD, "c", "pool", "a")))
	used(denied, "a claim cannot be written", "a")

	files := newCareRig(t, driver.CephFS)
	files.ceph.AddFileSystem("f", true)
	files.use(t, classes(class(driver.CephFS, "c", "fsName", "f")))
	used(files, "of a filesystem", "f-metadata")
}
