package credentials

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// mustReach compares the pools that each of both users may write by name, beside that of the default place.
func (f *fixture) mustReach(reason string, pools ...string) {
	f.t.Helper()
	for _, id := range []string{driver.RBD.ProvisionerUser("infra"), driver.RBD.NodeUser("infra")} {
		user, _ := f.ceph.User(id)
		for daemons, grants := range map[string]string{"OSD": user.Caps.OSD, "mgr": user.Caps.Mgr} {
			var got []string
			for _, grant := range strings.Split(grants, ", ") {
				if pool, found := strings.CutPrefix(grant, "profile rbd pool="); found && pool != "infra-rbd" {
					got = append(got, pool)
				}
			}
			if diff := cmp.Diff(pools, got); diff != "" {
				f.t.Errorf("%s: pools of %s at the %s (-want +got):\n%s", reason, id, daemons, diff)
			}
		}
	}
}

func (f *fixture) poolID(name string) int64 {
	f.t.Helper()
	for _, p := range f.ceph.Pools() {
		if p.Name == name {
			return p.ID
		}
	}
	f.t.Fatalf("no pool %s", name)
	return 0
}

func (f *fixture) hidePools() {
	f.ceph.Deny(operatorUser, "osd pool ls")
	f.connect()
}

// TestPoolsOfOtherApplications: a class that names somebody else's pool does not use it, and opens it to nobody. Who has
// volumes there keeps their rights.
func TestPoolsOfOtherApplications(t *testing.T) {
	at := func(pool string) ceph.Placement { return ceph.Placement{FSID: cephtest.FSID, Pool: pool} }
	tests := map[string]struct {
		reason string
		// pool is what a class names, places what is in use beside it.
		pool   string
		places func(id int64) []usage.Place
		change func(*fixture)
		want   []string
	}{
		"Metadata":   {reason: "the metadata of a filesystem", pool: "fs-metadata"},
		"Objects":    {reason: "the data of a gateway", pool: "objects"},
		"Erasure":    {reason: "no pool for headers of images", pool: "ec"},
		"Images":     {reason: "the driver's own application", pool: "images", want: []string{"images"}},
		"Shared":     {reason: "the driver's application, too", pool: "shared", want: []string{"shared"}},
		"Bare":       {reason: "nobody's, so far", pool: "bare", want: []string{"bare"}},
		"Missing":    {reason: "it may be made in a moment", pool: "missing", want: []string{"missing"}},
		"Unreadable": {reason: "nobody can tell whose it is", pool: "objects", change: (*fixture).hidePools, want: []string{"objects"}},
		"Volumes": {reason: "volumes are there", pool: "objects",
			places: func(id int64) []usage.Place {
				return []usage.Place{{Placement: at("objects"), IDs: []int64{id}, Classes: []string{"c"}, Volumes: 1}}
			}, want: []string{"objects"}},
		"Static": {reason: "volumes of an administrator are there", pool: "objects",
			places: func(int64) []usage.Place {
				return []usage.Place{{Placement: at("objects"), Classes: []string{"c"}, Volumes: 1}}
			}, want: []string{"objects"}},
		"Snapshots": {reason: "a snapshot is there", pool: "objects",
			places: func(id int64) []usage.Place {
				return []usage.Place{{Placement: at("objects"), Classes: []string{"c"}}, {Placement: at(""), IDs: []int64{id}, Snapshots: 1}}
			}, want: []string{"objects"}},
		"Journal": {reason: "volumes that are elsewhere have their journal there", pool: "objects",
			places: func(int64) []usage.Place {
				return []usage.Place{{Placement: at("objects"), Classes: []string{"c"}, Journal: true}}
			}, want: []string{"objects"}},
		"Elsewhere": {reason: "volumes in one pool say nothing of another", pool: "objects",
			places: func(int64) []usage.Place {
				return []usage.Place{{Placement: at("images"), Volumes: 1}, {Placement: at("objects"), Classes: []string{"c"}}}
			}, want: []string{"images"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.proof.fail = proof.ErrNotYet
			f.ceph.AddPool(ceph.Pool{Name: "objects", Applications: []string{"rgw"}})
			f.ceph.AddPool(ceph.Pool{Name: "images", Applications: []string{"rbd"}})
			f.ceph.AddPool(ceph.Pool{Name: "shared", Applications: []string{"cephfs", "rbd"}})
			f.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true})
			f.ceph.AddPool(ceph.Pool{Name: "bare"})
			if tc.places != nil {
				f.config.Usage.Set(usage.Usage{Places: tc.places(f.poolID("objects"))})
			}
			if tc.change != nil {
				tc.change(f)
			}
			f.sync()
			f.class("c", tc.pool)
			f.sync()
			f.mustReach(tc.reason, tc.want...)
		})
	}
}

// TestPoolIsGivenToTheDriver: a mistake is mended in Ceph as well as in the class.
func TestPoolIsGivenToTheDriver(t *testing.T) {
	f := newFixture(t, driver.RBD)
	f.ceph.AddPool(ceph.Pool{Name: "objects", Applications: []string{"rgw"}})
	f.class("c", "objects")
	f.sync()
	f.mustReach("somebody else's")
	f.ceph.RemovePool("objects")
	f.ceph.AddPool(ceph.Pool{Name: "objects", Applications: []string{"rbd", "rgw"}})
	f.later()
	f.mustReach("the driver's, too", "objects")
}

// TestMistakenClassesLetCapsShrink: their pools are never claimed, and nobody has to look into them for volumes.
func TestMistakenClassesLetCapsShrink(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*fixture)
		want   []string
	}{
		"Proven":   {"nothing is in either pool", func(*fixture) {}, nil},
		"Unproven": {"rights that were given stay without a proof", func(f *fixture) { f.proof.fail = proof.ErrNotYet }, []string{"fast", "fs-metadata"}},
		"Unread":   {"pools that cannot be read are not empty", (*fixture).hidePools, []string{"fast", "fs-metadata"}},
		"Seen": {"a look saw a volume that the caches lack", func(f *fixture) {
			f.proof.looks = []usage.Usage{{Places: []usage.Place{
				{Placement: ceph.Placement{FSID: cephtest.FSID, Pool: "fs-metadata"}, IDs: []int64{f.poolID("fs-metadata")}, Volumes: 1},
			}}}
		}, []string{"fast", "fs-metadata"}},
		"Tagged": {"Ceph has a volume that the API server lost", func(f *fixture) {
			f.ceph.SetPoolMetadata("fs-metadata", "cephfs", driver.ClaimKey("infra", "rbd"), driver.ClaimInUse)
			f.ceph.AddImage(ceph.ImagePlace{Pool: "fs-metadata", Name: "csi-vol-1"}, ceph.TagCluster, "infra")
		}, []string{"fs-metadata"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, driver.RBD)
			f.ceph.AddPool(ceph.Pool{Name: "fast", Applications: []string{"rbd"}})
			f.proof.fail = proof.ErrNotYet
			f.class("files", "fs-metadata")
			f.sync()
			for _, id := range f.minted() {
				f.widen(id, "profile rbd pool=fast", "profile rbd pool=fs-metadata")
			}
			f.restart()
			f.later()
			f.mustReach("nobody has looked", "fast", "fs-metadata")
			f.proof.fail = nil
			tc.change(f)
			f.later()
			f.mustReach(tc.reason, tc.want...)
		})
	}
}

// widen gives a user what an operator that judged otherwise had given it.
func (f *fixture) widen(id string, grants ...string) {
	f.t.Helper()
	user, found := f.ceph.User(id)
	if !found {
		f.t.Fatalf("no user %s", id)
	}
	more := ceph.Grants(grants...)
	f.ceph.SetCaps(id, user.Caps.With(ceph.Caps{OSD: more, Mgr: more}))
}

// TestLayoutsOfOtherFilesystems: no subvolume can be made with the data pool of another filesystem, so that the one that a
// class names beside it is not in use, either.
func TestLayoutsOfOtherFilesystems(t *testing.T) {
	for pool, want := range map[string]string{
		"second-data": "allow rw fsname=fs path=/volumes/infra, allow rw fsname=second path=/volumes/infra",
		"fs-data":     "allow rw fsname=fs path=/volumes/infra",
	} {
		f := newFixture(t, driver.CephFS)
		f.ceph.AddFileSystem("second", true)
		f.must(f.classes.Update(&storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "c"}, Provisioner: driver.CephFS.Name,
			Parameters: map[string]string{"clusterID": cephtest.FSID, "fsName": "second", "pool": pool},
		}))
		f.sync()
		user, _ := f.ceph.User(driver.CephFS.NodeUser("infra"))
		if user.Caps.MDS != want {
			t.Errorf("%s: got %q, want %q", pool, user.Caps.MDS, want)
		}
	}
}
