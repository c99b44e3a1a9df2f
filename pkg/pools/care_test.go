package pools

import (
	"slices"
	"strings"
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

func TestMissingPoolIsReported(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "good", Applications: []string{"rbd"}})
	r.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true})
	r.ceph.AddPool(ceph.Pool{Name: "files", Applications: []string{"cephfs"}})
	r.use(t, classes(
		class(driver.RBD, "ok", "pool", "good"), class(driver.RBD, "typo", "pool", "godo"),
		class(driver.RBD, "ec", "pool", "ec"), class(driver.RBD, "files", "pool", "files"),
		class(driver.RBD, "data", "pool", "good", "dataPool", "ec"), class(driver.RBD, "nodata", "pool", "good", "dataPool", "none"),
	))
	r.expectProblems(t, "one sentence for each",
		`StorageClass data, Ceph cluster `+cephtest.FSID+`: data pool "ec" cannot be written in part; allow it: ceph osd pool set ec allow_ec_overwrites true`,
		`StorageClass ec, Ceph cluster `+cephtest.FSID+`: pool "ec" is erasure-coded`,
		`StorageClass files, Ceph cluster `+cephtest.FSID+`: pool "files" belongs to application "cephfs"`,
		`data pool "none" does not exist`,
		`pool "godo" does not exist; create it: ceph osd pool create godo && ceph osd pool application enable godo rbd`,
	)
	r.expectFlagged(t, "what a class names by mistake is not in use", "good")
	r.expectReport(t, Report{
		Missing: map[string][]string{cephtest.FSID: {"godo", "none"}}, Protected: map[string][]string{cephtest.FSID: {"good"}}, Unprotected: map[string][]string{},
	})
	if len(r.events) != 5 {
		t.Errorf("events %q, want one for each class with a problem", r.events)
	}
	r.later(t)
	if len(r.events) != 5 {
		t.Errorf("events %q: nothing has changed", r.events[5:])
	}
	r.ceph.AddPool(ceph.Pool{Name: "godo", Applications: []string{"rbd"}})
	r.clock.SetTime(r.clock.Now().Add(watchInterval))
	r.sync(t)
	if got, _ := r.controller.Problems.Get(); len(got) != 4 {
		t.Errorf("a pool that appears is seen within seconds while something is missing: %q", got)
	}
	r.ceph.RemovePool("godo")
	r.later(t)
	if len(r.events) != 6 || !strings.HasPrefix(r.events[5], "typo 1: ") {
		t.Errorf("events %q: what is wrong again is told again", r.events[5:])
	}
	for _, conditionType := range r.operator.Types() {
		if strings.HasSuffix(conditionType, "Degraded") {
			t.Errorf("a user's mistake sets %s", conditionType)
		}
	}
}

func TestPoolsAreCreatedOnDemand(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.settings.MissingPools = driver.MissingCreate
	r.ceph.AddPool(ceph.Pool{Name: "bare"})
	r.ceph.AddPool(ceph.Pool{Name: "files", Applications: []string{"cephfs"}})
	r.use(t, classes(
		class(driver.RBD, "new", "pool", "new"), class(driver.RBD, "bare", "pool", "bare"), class(driver.RBD, "files", "pool", "files"),
		class(driver.RBD, "data", "pool", "new", "dataPool", "none"), class(driver.RBD, "bad", "pool", "a/b"),
	))
	var usable []string
	for _, p := range r.ceph.Pools() {
		if slices.Equal(p.Applications, []string{"rbd"}) {
			usable = append(usable, p.Name)
		}
	}
	if want := []string{"bare", "new"}; !slices.Equal(usable, want) {
		t.Errorf("pools for images: %q, want %q", usable, want)
	}
	r.expectProblems(t, "data pools, and names that tools choke on, are not made",
		`pool "a/b" does not exist`, `pool name "a/b" is refused`, `data pool "none"`, `pool "files" belongs`)
	r.expectFlagged(t, "in use at once", "bare", "new")

	cephfs := newCareRig(t, driver.CephFS)
	cephfs.settings.MissingPools = driver.MissingCreate
	cephfs.use(t, classes(class(driver.CephFS, "c", "fsName", "none")))
	cephfs.expectProblems(t, "filesystems are the administrator's", `filesystem "none" does not exist; create it: ceph fs volume create none`)
	if cephfs.writes() != 0 {
		t.Errorf("wrote %v", cephfs.ceph.Writes())
	}

	denied := newCareRig(t, driver.RBD, "osd pool create")
	denied.settings.MissingPools = driver.MissingCreate
	denied.use(t, classes(class(driver.RBD, "c", "pool", "p")))
	denied.expectProblems(t, "who may not create says so", `creating pool "p": ceph osd pool create: access denied`, `pool "p" does not exist`)
}

func TestFilesystemsOfClasses(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.ceph.AddFileSystem("idle", false)
	named := classes(
		class(driver.CephFS, "nogroup", "fsName", "a"), class(driver.CephFS, "idle", "fsName", "idle"),
		class(driver.CephFS, "layout", "fsName", "a", "pool", "a-data"), class(driver.CephFS, "wrong", "fsName", "a", "pool", "idle-data"),
		class(driver.CephFS, "nopool", "fsName", "a", "pool", "none"),
	)
	r.config.Usage.Set(usage.Of(driver.CephFS, configured("apps"), named, nil))
	r.later(t)
	group := `filesystem "a" has no subvolume group "apps"; create it: ceph fs subvolumegroup create a apps`
	r.expectProblems(t, "group and layout", group, group,
		`StorageClass nopool, Ceph cluster `+cephtest.FSID+`: data pool "none" does not exist`, group,
		group, `pool "idle-data" holds no data of filesystem "a"; add it: ceph fs add_data_pool a idle-data`)
	r.expectFlagged(t, "a class whose group is missing uses the pools all the same", "a-data", "a-metadata", "idle-data", "idle-metadata")
	if err := r.client.EnsureSubvolumeGroup(t.Context(), "a", "apps"); err != nil {
		t.Fatal(err)
	}
	r.clock.SetTime(r.clock.Now().Add(watchInterval))
	r.sync(t)
	if got, _ := r.controller.Problems.Get(); len(got) != 2 {
		t.Errorf("the group is there: %q", got)
	}
}

func TestGroupsAreRarelyAskedFor(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	if err := r.client.EnsureSubvolumeGroup(t.Context(), "a", driver.DefaultSubvolumeGroup); err != nil {
		t.Fatal(err)
	}
	counting := &reads{Cluster: r.client}
	r.client = counting
	r.use(t, classes(class(driver.CephFS, "c", "fsName", "a")))
	r.later(t)
	if counting.groups != 1 {
		t.Errorf("the mgr was asked %d times within %s", counting.groups, groupInterval)
	}
	r.clock.SetTime(r.clock.Now().Add(groupInterval))
	r.sync(t)
	if counting.groups != 2 {
		t.Errorf("the mgr was asked %d times, want again after %s", counting.groups, groupInterval)
	}
}

func TestLostDefaultPlace(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.config.Placement.Set(ceph.Placement{FSID: cephtest.FSID, Filesystem: "a"})
	r.use(t, nil)
	r.ceph.RemoveFileSystem("a")
	r.later(t)
	r.expectFlagged(t, "the pools of the default class's filesystem may be all that is left of it", "a-data", "a-metadata")
}

func TestLostPlaces(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.use(t, nil, provisioned(driver.CephFS, 1, "fsName", "a"), provisioned(driver.CephFS, 1, "fsName", "a"))
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionTrue, condition.AsExpected)
	r.ceph.RemoveFileSystem("a")
	r.clock.SetTime(r.clock.Now().Add(watchInterval))
	r.sync(t)
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing,
		`the filesystem with ID 1, once "a", does not exist any more, and 2 volumes of this cluster are in it`)
	r.expectFlagged(t, "Ceph's removal of a filesystem leaves its pools, and the data in them", "a-data", "a-metadata")
	r.ceph.AddFileSystem("b", true)
	r.ceph.Stop()
	r.later(t)
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing)
	r.ceph.Start()
	r.use(t, nil)
	r.expectFlagged(t, "the volumes have gone, too")

	images := newCareRig(t, driver.RBD)
	images.use(t, nil, provisioned(driver.RBD, 5), provisioned(driver.RBD, 0, "pool", "p", "dataPool", "d"))
	images.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing,
		`data pool "d" does not exist, and 1 volume of this cluster is in it`, `the pool with ID 5 does not exist any more`)
}

// TestAstrayVolumes: ceph-csi takes them for deleted.
func TestAstrayVolumes(t *testing.T) {
	r := newCareRig(t, driver.CephFS)
	r.ceph.AddFileSystem("a", true)
	r.open = true
	pv := provisioned(driver.CephFS, 1, "fsName", "a")
	pv.Spec.CSI.VolumeAttributes[driver.SubvolumePathAttribute] = "/volumes/old/csi-vol-1/2"
	r.use(t, nil, pv)
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing,
		`volumes are in /volumes/old of filesystem "a"`, `those of clusterID "`+cephtest.FSID+`" in /volumes/csi only`, "say Retain")
	r.config.Usage.Set(usage.Of(driver.CephFS, configured("old"), nil, []*corev1.PersistentVolume{pv}))
	r.later(t)
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionTrue, condition.AsExpected)
}

func TestUnknownCephCluster(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	stranger, nobody := class(driver.RBD, "c", "pool", "p"), class(driver.RBD, "d", "pool", "p")
	stranger.Parameters["clusterID"] = "elsewhere"
	delete(nobody.Parameters, "clusterID")
	pv := provisioned(driver.RBD, 1, "pool", "p")
	pv.Spec.CSI.VolumeAttributes["clusterID"] = "elsewhere"
	r.config.Usage.Set(use(driver.RBD, classes(stranger, nobody), pv))
	r.sync(t)
	if _, known := r.controller.Problems.Get(); known {
		t.Error("just after the start the connection to that Ceph cluster may be on its way")
	}
	r.clock.SetTime(r.clock.Now().Add(settling))
	r.sync(t)
	r.expectProblems(t, "which are known", `StorageClass c names clusterID "elsewhere", which is no Ceph cluster that is declared here; known: `+cephtest.FSID,
		`StorageClass d names clusterID ""`)
	r.expect(t, condition.VolumePlacesPresent, operatorv1.ConditionFalse, condition.PlaceMissing, `1 volume is in Ceph cluster "elsewhere"`)
	broken := class(driver.RBD, "t", "topologyConstrainedPools", "x")
	r.use(t, classes(broken))
	r.expectProblems(t, "and what cannot be read", "StorageClass t: parameter topologyConstrainedPools is not readable")
}

// TestTopology: pools that only a topology names keep their protection, as an earlier driver's volumes may be there.
func TestTopology(t *testing.T) {
	const zones = `[{"poolName":"east"},{"poolName":"west"}]`
	for name, tc := range map[string]struct {
		reason     string
		open       bool
		parameters []string
		problems   []string
		flagged    []string
	}{
		"Alone": {
			reason: "claims stay Pending", open: true, parameters: []string{"topologyConstrainedPools", zones},
			problems: []string{"StorageClass zones: parameter topologyConstrainedPools has no effect"}, flagged: []string{"east", "west"},
		},
		"BesidePool": {
			reason: "all images land in one pool", open: true, parameters: []string{"topologyConstrainedPools", zones, "pool", "all"},
			problems: []string{`StorageClass zones: parameter topologyConstrainedPools has no effect, as the driver runs without topology: every image goes to pool "all"`},
			flagged:  []string{"all", "east", "west"},
		},
		"OtherDeployment": {
			reason: "the driver that somebody else deployed may know topologies", parameters: []string{"topologyConstrainedPools", zones}, flagged: []string{"east", "west"},
		},
		"None": {reason: "a pool is all it takes", open: true, parameters: []string{"topologyConstrainedPools", "", "pool", "all"}, flagged: []string{"all"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCareRig(t, driver.RBD)
			r.open = tc.open
			for _, pool := range []string{"all", "east", "west"} {
				r.ceph.AddPool(ceph.Pool{Name: pool, Applications: []string{"rbd"}})
			}
			r.use(t, classes(class(driver.RBD, "zones", tc.parameters...)))
			r.expectProblems(t, tc.reason, tc.problems...)
			r.expectFlagged(t, tc.reason, tc.flagged...)
			if len(r.events) != len(tc.problems) {
				t.Errorf("%s: events %q, want one for each problem", tc.reason, r.events)
			}
		})
	}
}

func TestManyVolumesAreNoNews(t *testing.T) {
	r := newCareRig(t, driver.RBD)
	r.ceph.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	counting := &reads{Cluster: r.client}
	r.client = counting
	r.use(t, nil, provisioned(driver.RBD, 1, "pool", "p"))
	before := counting.pools
	r.config.Usage.Set(use(driver.RBD, nil, provisioned(driver.RBD, 1, "pool", "p"), provisioned(driver.RBD, 1, "pool", "p")))
	r.clock.SetTime(r.clock.Now().Add(2 * time.Second))
	r.sync(t)
	if counting.pools != before {
		t.Error("one more volume at the same place has Ceph asked again")
	}
	r.config.Usage.Set(use(driver.RBD, classes(class(driver.RBD, "c", "pool", "q")), provisioned(driver.RBD, 1, "pool", "p")))
	r.sync(t)
	if counting.pools == before {
		t.Error("a new class is looked at at once")
	}
}
