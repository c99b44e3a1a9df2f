package credentials

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

const (
	claims  = "allow rwx tag rbd storage.openshift.io.nodelete.infra.rbd=in-use, allow rwx tag rbd storage.openshift.io.nodelete.infra.rbd=unprotected"
	own     = claims + ", profile rbd pool=infra-rbd"
	andFast = claims + ", profile rbd pool=fast, profile rbd pool=infra-rbd"
)

func (f *fixture) mustCaps(reason, want string) {
	f.t.Helper()
	if got := f.osdCaps(); got != want {
		f.t.Errorf("%s: got caps %q, want %q", reason, got, want)
	}
}

func inFast() ceph.Placement { return ceph.Placement{FSID: cephtest.FSID, Pool: "fast"} }

func TestCapsFollowClasses(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.sync()
	class := f.class("fast", "fast")
	f.sync()
	f.mustCaps("a new class, without waiting for the next minute", andFast)
	f.must(f.classes.Delete(class))
	f.later()
	f.mustCaps("its last volume may be in the making", andFast)
	for range 10 {
		f.later()
	}
	f.mustCaps("nobody has used it for ten minutes", own)
}

func TestCapsStayForVolumes(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.AddPool(ceph.Pool{Name: "snapshots"})
	f.ceph.AddPool(ceph.Pool{Name: "by-id"})
	pools := f.ceph.Pools()
	f.config.Usage.Set(usage.Usage{Places: []usage.Place{
		{Placement: inFast(), Volumes: 1},
		{Placement: ceph.Placement{FSID: cephtest.FSID}, IDs: []int64{pools[len(pools)-1].ID}, Volumes: 1},
		{Placement: ceph.Placement{FSID: cephtest.FSID}, IDs: []int64{pools[len(pools)-2].ID}, Snapshots: 1},
		{Placement: ceph.Placement{FSID: "another", Pool: "elsewhere"}, Volumes: 1},
	}})
	const want = claims + ", profile rbd pool=by-id, profile rbd pool=fast, profile rbd pool=infra-rbd, profile rbd pool=snapshots"
	for range 30 {
		f.later()
		f.mustCaps("a volume lives there", want)
	}
	f.restart()
	f.later()
	f.mustCaps("after a restart as well", want)
	f.config.Usage.Set(usage.Usage{})
	f.restart()
	f.later()
	f.mustCaps("a restart forgets who is gone", own)
}

func TestCapsShrinkOnProofOnly(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*fixture)
		want   string
	}{
		"Proven":   {"two looks saw no use", func(*fixture) {}, own},
		"Unproven": {"a restart is no proof", func(f *fixture) { f.proof.fail = proof.ErrNotYet }, andFast},
		"Seen": {"a look saw a volume that the caches lack", func(f *fixture) {
			f.proof.looks = []usage.Usage{{Places: []usage.Place{{Placement: inFast(), Volumes: 1}}}}
		}, andFast},
		"Tagged": {"Ceph has a volume that the API server lost", func(f *fixture) {
			f.claim("fast")
			f.ceph.AddImage(ceph.ImagePlace{Pool: "fast", Name: "csi-vol-1"}, ceph.TagCluster, "infra")
		}, andFast},
		"Theirs": {"that is another cluster's", func(f *fixture) {
			f.claim("fast")
			f.ceph.AddImage(ceph.ImagePlace{Pool: "fast", Name: "csi-vol-1"}, ceph.TagCluster, "other")
		}, own},
		"Unclaimed": {"without claims, nobody knows where to look", func(f *fixture) {
			f.ceph.AddPool(ceph.Pool{Name: "slow", Applications: []string{"rbd"}})
			f.class("slow", "slow")
		}, claims + ", profile rbd pool=fast, profile rbd pool=infra-rbd, profile rbd pool=slow"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.ceph.AddPool(ceph.Pool{Name: "fast", Applications: []string{"rbd"}})
			class := f.class("fast", "fast")
			f.proof.fail = proof.ErrNotYet
			f.sync()
			if f.proof.waits {
				t.Error("looks are taken although nothing waits")
			}
			f.must(f.classes.Delete(class))
			f.restart()
			f.later()
			f.mustCaps("nobody has looked", andFast)
			if !f.proof.waits {
				t.Error("nobody looks")
			}
			f.proof.fail = nil
			tc.change(f)
			f.sync()
			f.mustCaps(tc.reason, tc.want)
			if f.sync(); f.proof.waits != (tc.want != own && name != "Seen" && name != "Tagged") {
				t.Errorf("%s: waits %t", tc.reason, f.proof.waits)
			}
		})
	}
}

// silentManager is a mgr that does not answer: who asks it waits as long as they may.
type silentManager struct {
	Ceph
	wait time.Duration
}

func (s *silentManager) SubvolumeGroups(ctx context.Context, _ string) ([]string, error) {
	deadline, _ := ctx.Deadline()
	s.wait = time.Until(deadline)
	return nil, ceph.ErrTimeout
}

// TestSearchLeavesTimeForCaps: what a new class needs does not wait for what is to be withdrawn.
func TestSearchLeavesTimeForCaps(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	mgr := &silentManager{Ceph: f.session}
	f.session = mgr
	f.sync()
	if mgr.wait == 0 || mgr.wait > deadline/2 {
		t.Errorf("the search for tagged volumes may take %v of the %v for all", mgr.wait, deadline)
	}
}

// TestWhatOthersAddNeedsNoProof: it never came from here.
func TestWhatOthersAddNeedsNoProof(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.proof.fail = proof.ErrNotYet
	f.sync()
	administrator, err := f.ceph.Dial(t.Context(), f.ceph.Source())
	f.must(err)
	f.must(administrator.SetCaps(t.Context(), driver.RBD.ProvisionerUser("infra"), ceph.Caps{Mon: "allow *", OSD: "allow *"}))
	f.later()
	f.mustCaps("somebody gave it everything", own)
}

func TestCapsOnlyGrowWhileSomethingIsUnknown(t *testing.T) {
	for reason, forget := range map[string]func(*fixture){
		"default place":       func(f *fixture) { f.config.Placement.Clear() },
		"another cluster's":   func(f *fixture) { f.config.Placement.Set(ceph.Placement{FSID: "another", Pool: "x"}) },
		"volumes and classes": func(f *fixture) { f.config.Usage.Clear() },
	} {
		f := newFixture(t, driver.RBD)
		f.class("fast", "fast")
		f.sync()
		f.restart()
		forget(f)
		f.must(f.classes.Delete(f.class("fast", "fast")))
		f.class("slow", "slow")
		f.later()
		f.mustCaps(reason, andFast+", profile rbd pool=slow")
		writes := f.ceph.Writes()
		f.later()
		if diff := cmp.Diff(writes, f.ceph.Writes()); diff != "" {
			t.Errorf("%s: writes again (-want +got):\n%s", reason, diff)
		}
	}
}

// TestUsersBeforeThePlace: pods wait for the Secrets, and making a pool takes seconds.
func TestUsersBeforeThePlace(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.config.Placement.Clear()
	f.config.Usage.Clear()
	if diff := cmp.Diff(f.minted(), f.sync()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
	if _, granted := f.controller.Granted.Get(); granted {
		t.Error("granted a place that nobody knows")
	}
	f.config.Placement.Set(f.place())
	f.ceph.Stop()
	f.sync()
	if _, granted := f.controller.Granted.Get(); granted {
		t.Error("the class could be used before its caps are there")
	}
	f.ceph.Start()
	f.sync()
	f.mustCaps("now", own)
	if granted, _ := f.controller.Granted.Get(); granted != f.place() {
		t.Errorf("granted %+v", granted)
	}
}

func TestAnotherCephClusterHasOtherPlaces(t *testing.T) {
	const another = "c0ffee00-0000-4000-8000-000000000002"
	f := newFixture(t, driver.RBD)
	f.class("fast", "fast")
	f.sync()
	f.mustCaps("in the first cluster", andFast)
	f.ceph.SetFSID(another)
	for _, id := range f.minted() {
		f.ceph.RemoveUser(id)
	}
	f.connect()
	f.sync()
	if _, found := f.ceph.User("csi-rbd-provisioner.infra"); !found {
		t.Fatal("the other cluster is not asked at once")
	}
	f.mustCaps("nothing is in use there", claims)
	if granted, _ := f.controller.Granted.Get(); granted.FSID == another {
		t.Error("the default place is in the first cluster")
	}
	f.config.Placement.Set(ceph.Placement{FSID: another, Pool: "theirs"})
	f.sync()
	f.mustCaps("the default place moved", claims+", profile rbd pool=theirs")
}

func TestMovedGroupKeepsOldVolumes(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	place := f.place()
	place.SubvolumeGroup = "new"
	f.config.Placement.Set(place)
	f.config.Usage.Set(usage.Usage{Places: []usage.Place{{
		Placement: ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs"}, Directories: []string{"/volumes/old"}, Volumes: 1,
	}}})
	f.sync()
	user, _ := f.ceph.User("csi-cephfs-node.infra")
	if want := "allow rw fsname=fs path=/volumes/new, allow rw fsname=fs path=/volumes/old"; user.Caps.MDS != want {
		t.Errorf("got %q, want %q", user.Caps.MDS, want)
	}
}

// TestJournals: a clusterID has the journal that config.json names for it, or csi; what is not written yet
// will be that of the default place.
func TestJournals(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	team := usage.Place{Placement: ceph.Placement{FSID: "team", Filesystem: "fs"}, Monitors: []string{"10.20.0.2:6789"}}
	other := team
	other.FSID, other.RADOSNamespace = "other", "theirs"
	early := usage.Place{Placement: ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs"}}
	for _, tc := range []struct {
		places []usage.Place
		want   []string
	}{
		{[]usage.Place{early}, []string{"infra"}},
		{[]usage.Place{early, team, other}, []string{"csi", "infra", "theirs"}},
	} {
		f.config.Usage.Set(usage.Usage{Places: tc.places})
		f.sync()
		user, _ := f.ceph.User("csi-cephfs-provisioner.infra")
		var got []string
		for _, grant := range strings.Split(user.Caps.OSD, ", ") {
			_, namespace, _ := strings.Cut(grant, "namespace=")
			namespace, _, _ = strings.Cut(namespace, " ")
			got = append(got, namespace)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, slices.Compact(got)); diff != "" {
			t.Errorf("namespaces of %s (-want +got):\n%s", user.Caps.OSD, diff)
		}
	}
}

// TestGroupOfAClusterID: config.json may name a subvolume group for a clusterID of an administrator's.
func TestGroupOfAClusterID(t *testing.T) {
	f := newFixture(t, driver.CephFS)
	f.config.Usage.Set(usage.Usage{Places: []usage.Place{
		{Placement: ceph.Placement{FSID: "team", Filesystem: "fs"}, Monitors: []string{"10.20.0.2:6789"}, Group: "theirs"},
		{Placement: ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs2"}},
	}})
	f.sync()
	user, _ := f.ceph.User("csi-cephfs-node.infra")
	for _, want := range []string{"fsname=fs path=/volumes/theirs", "fsname=fs2 path=/volumes/infra"} {
		if !strings.Contains(user.Caps.MDS, want) {
			t.Errorf("%q lacks %s", user.Caps.MDS, want)
		}
	}
}

// TestNamesThatNoCapsCarry: one place without rights is no reason to take those of the others.
func TestNamesThatNoCapsCarry(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.class("wrong", `x'"y`)
	f.class("fast", "fast")
	f.sync()
	f.mustCaps("all others", andFast)
	f.expect(condition.CredentialsMinted, operatorv1.ConditionTrue, condition.AsExpected, `no rights to "x'\"y"`, "rename it")
	if granted, _ := f.controller.Granted.Get(); granted != f.place() {
		t.Errorf("granted %+v", granted)
	}
}

// TestFilesystemsThatNoCapsCarry: an MDS understands fewer names than other daemons, and Ceph refuses
// all caps of a user for one that it does not.
func TestFilesystemsThatNoCapsCarry(t *testing.T) {
	for _, name := range []string{"my fs", "5%d", "all", "a/b"} {
		f := newFixture(t, driver.CephFS)
		f.config.Usage.Set(usage.Usage{Places: []usage.Place{
			{Placement: ceph.Placement{FSID: cephtest.FSID, Filesystem: name}, Classes: []string{"wrong"}},
			{Placement: ceph.Placement{FSID: cephtest.FSID, Filesystem: "second"}, Classes: []string{"right"}},
		}})
		f.sync()
		f.expect(condition.CredentialsMinted, operatorv1.ConditionTrue, condition.AsExpected, "no rights to \""+name, "rename it")
		user, _ := f.ceph.User("csi-cephfs-node.infra")
		if want := "allow rw fsname=fs path=/volumes/infra, allow rw fsname=second path=/volumes/infra"; user.Caps.MDS != want {
			t.Errorf("%s: got %q, want %q", name, user.Caps.MDS, want)
		}
	}
}
