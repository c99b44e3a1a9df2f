package usage

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	fsid = "4d95e4d6-3a1f-4fcb-8b0a-0b6d1f0c2a11"
	uuid = "6e696bba-064f-11ec-a251-0242ac110002"
)

func class(d driver.Driver, name string, parameters map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: d.Name, Parameters: parameters}
}

func volume(d driver.Driver, handle string, attributes map[string]string) *corev1.PersistentVolume {
	return other(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
		Driver: d.Name, VolumeHandle: handle, VolumeAttributes: attributes,
	}})
}

func other(source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: source}}
}

func handle(clusterID string, location int64) string {
	return fmt.Sprintf("0001-%04x-%s-%016x-%s", len(clusterID), clusterID, location, uuid)
}

func in(pool string) ceph.Placement { return ceph.Placement{FSID: fsid, Pool: pool} }

func TestOf(t *testing.T) {
	rbd := map[string]string{"clusterID": fsid, "pool": "a"}
	tests := map[string]struct {
		reason  string
		driver  driver.Driver
		config  []ceph.ConfigEntry
		classes []*storagev1.StorageClass
		volumes []*corev1.PersistentVolume
		want    Usage
	}{
		"Nothing": {reason: "no class, no volume", driver: driver.RBD},
		"ClassAndVolumes": {
			reason:  "a class and its volumes are at one place",
			driver:  driver.RBD,
			classes: []*storagev1.StorageClass{class(driver.RBD, "z", rbd), class(driver.RBD, "b", rbd), class(driver.CephFS, "fs", rbd)},
			volumes: []*corev1.PersistentVolume{
				volume(driver.RBD, handle(fsid, 7), rbd), volume(driver.RBD, handle(fsid, 3), rbd),
				volume(driver.RBD, handle(fsid, 3), rbd), volume(driver.CephFS, handle(fsid, 1), rbd),
			},
			want: Usage{Places: []Place{{Placement: in("a"), IDs: []int64{3, 7}, Classes: []string{"b", "z"}, Volumes: 3}}},
		},
		"Static": {
			reason: "an administrator's volume has no handle of ceph-csi, but attributes; one without either is no place",
			driver: driver.RBD,
			volumes: []*corev1.PersistentVolume{
				volume(driver.RBD, "my-image", rbd), volume(driver.RBD, "my-image", map[string]string{"clusterID": fsid}),
			},
			want: Usage{Places: []Place{{Placement: in("a"), Volumes: 1}}},
		},
		"HandleOnly": {
			reason:  "the handle alone tells cluster and pool ID",
			driver:  driver.RBD,
			volumes: []*corev1.PersistentVolume{volume(driver.RBD, handle("rook-ceph", 5), nil)},
			want:    Usage{Places: []Place{{Placement: ceph.Placement{FSID: "rook-ceph"}, IDs: []int64{5}, Volumes: 1}}},
		},
		"RBDPools": {
			reason: "data pool, journal pool, topology and RADOS namespace",
			driver: driver.RBD,
			classes: []*storagev1.StorageClass{class(driver.RBD, "t", map[string]string{
				"clusterID": fsid, "topologyConstrainedPools": `[{"poolName":"e","dataPool":"ec","domainSegments":[]}]`,
			})},
			volumes: []*corev1.PersistentVolume{volume(driver.RBD, handle(fsid, 1), map[string]string{
				"clusterID": fsid, "pool": "a", "dataPool": "d", "journalPool": "j", "radosNamespace": "n",
			})},
			want: Usage{Places: []Place{
				{Placement: ceph.Placement{FSID: fsid, Pool: "a", DataPool: "d"}, RADOSNamespace: "n", IDs: []int64{1}, Volumes: 1},
				{Placement: ceph.Placement{FSID: fsid, Pool: "e", DataPool: "ec"}, Classes: []string{"t"}},
				{Placement: in("j"), RADOSNamespace: "n", Journal: true},
			}, Ineffective: []ClassProblem{{Class: "t", Problem: "parameter topologyConstrainedPools has no effect, as the driver runs without topology: without parameter pool, claims stay Pending; make a class for each pool instead"}}},
		},
		"Journal": {
			reason: "only the volumes tell that a journal is there",
			driver: driver.RBD,
			classes: []*storagev1.StorageClass{
				class(driver.RBD, "used", map[string]string{"clusterID": fsid, "pool": "a", "journalPool": "j"}),
				class(driver.RBD, "new", map[string]string{"clusterID": fsid, "pool": "a", "journalPool": "k"}),
			},
			volumes: []*corev1.PersistentVolume{volume(driver.RBD, handle(fsid, 1), map[string]string{
				"clusterID": fsid, "pool": "a", "journalPool": "j",
			})},
			want: Usage{Places: []Place{
				{Placement: in("a"), IDs: []int64{1}, Classes: []string{"new", "used"}, Volumes: 1},
				{Placement: in("j"), Classes: []string{"used"}, Journal: true},
				{Placement: in("k"), Classes: []string{"new"}},
			}},
		},
		"Configured": {
			reason: "config.json tells what a clusterID stands for; a journal needs no RADOS namespace",
			driver: driver.RBD,
			config: []ceph.ConfigEntry{{ClusterID: "team", Monitors: []string{"b:1", "a:1"}, ImageNamespace: "n", JournalNamespace: "j"}},
			classes: []*storagev1.StorageClass{class(driver.RBD, "t", map[string]string{
				"clusterID": "team", "pool": "a", "journalPool": "j",
			})},
			volumes: []*corev1.PersistentVolume{volume(driver.RBD, handle("team", 1), map[string]string{"clusterID": "team", "pool": "a"})},
			want: Usage{
				Places: []Place{
					{Placement: ceph.Placement{FSID: "team", Pool: "a"}, RADOSNamespace: "n", Monitors: []string{"a:1", "b:1"},
						IDs: []int64{1}, Classes: []string{"t"}, Volumes: 1},
					{Placement: ceph.Placement{FSID: "team", Pool: "j"}, Monitors: []string{"a:1", "b:1"}, Classes: []string{"t"}},
				},
				Config: []ceph.ConfigEntry{{ClusterID: "team", Monitors: []string{"b:1", "a:1"}, ImageNamespace: "n", JournalNamespace: "j"}},
			},
		},
		"Group": {
			reason:  "a clusterID of somebody's has the subvolume group that config.json says; that of the fsid is the operator's",
			driver:  driver.CephFS,
			config:  []ceph.ConfigEntry{{ClusterID: "team", Monitors: []string{"a:1"}, SubvolumeGroup: "g"}, {ClusterID: fsid, Monitors: []string{"a:1"}, SubvolumeGroup: "h"}},
			classes: []*storagev1.StorageClass{class(driver.CephFS, "t", map[string]string{"clusterID": "team", "fsName": "f"}), class(driver.CephFS, "u", map[string]string{"clusterID": fsid, "fsName": "f"})},
			want: Usage{
				Places: []Place{
					{Placement: ceph.Placement{FSID: fsid, Filesystem: "f"}, Monitors: []string{"a:1"}, Classes: []string{"u"}},
					{Placement: ceph.Placement{FSID: "team", Filesystem: "f"}, Group: "g", Monitors: []string{"a:1"}, Classes: []string{"t"}},
				},
				Config: []ceph.ConfigEntry{{ClusterID: "team", Monitors: []string{"a:1"}, SubvolumeGroup: "g"}, {ClusterID: fsid, Monitors: []string{"a:1"}, SubvolumeGroup: "h"}},
			},
		},
		"Astray": {
			reason: "ceph-csi looks for what it has made in the group of config.json; nothing is known of a clusterID that is not there",
			driver: driver.CephFS,
			config: []ceph.ConfigEntry{{ClusterID: "team"}},
			volumes: []*corev1.PersistentVolume{
				volume(driver.CephFS, handle("team", 1), map[string]string{"clusterID": "team", "fsName": "f", "subvolumePath": "/volumes/old/csi-vol-1/2"}),
				volume(driver.CephFS, handle("team", 1), map[string]string{"clusterID": "team", "fsName": "f", "subvolumePath": "/volumes/csi/csi-vol-3/4"}),
				volume(driver.CephFS, handle("team", 1), map[string]string{"clusterID": "team", "fsName": "f", "subvolumePath": "/volumes/old/csi-vol-5/6"}),
				volume(driver.CephFS, "mine", map[string]string{"clusterID": "team", "fsName": "f", "rootPath": "/volumes/other/mine"}),
				volume(driver.CephFS, handle(fsid, 1), map[string]string{"clusterID": fsid, "fsName": "f", "subvolumePath": "/volumes/old/csi-vol-7/8"}),
			},
			want: Usage{
				Places: []Place{
					{Placement: ceph.Placement{FSID: fsid, Filesystem: "f"}, IDs: []int64{1}, Directories: []string{"/volumes/old"}, Volumes: 1},
					{
						Placement: ceph.Placement{FSID: "team", Filesystem: "f"}, Group: "csi", IDs: []int64{1}, Volumes: 4,
						Directories: []string{"/volumes/csi", "/volumes/old", "/volumes/other"}, Astray: []Astray{{"team", "/volumes/old", "/volumes/csi"}},
					},
				},
				Config: []ceph.ConfigEntry{{ClusterID: "team"}},
			},
		},
		"Unreadable": {
			reason: "a typo in one class hides no other place of it",
			driver: driver.RBD,
			classes: []*storagev1.StorageClass{class(driver.RBD, "t", map[string]string{
				"clusterID": fsid, "pool": "a", "topologyConstrainedPools": `[{}]`,
			})},
			want: Usage{
				Places:      []Place{{Placement: in("a"), Classes: []string{"t"}}},
				Unreadable:  []ClassProblem{{Class: "t", Problem: "parameter topologyConstrainedPools has an entry without poolName"}},
				Ineffective: []ClassProblem{{Class: "t", Problem: `parameter topologyConstrainedPools has no effect, as the driver runs without topology: every image goes to pool "a"; make a class for each pool instead, and this one anew without the parameter`}},
			},
		},
		"CephFS": {
			reason:  "filesystem and layout pool; topologies are of images",
			driver:  driver.CephFS,
			classes: []*storagev1.StorageClass{class(driver.CephFS, "c", map[string]string{"clusterID": fsid, "fsName": "f", "pool": "fast", "topologyConstrainedPools": "[]"})},
			volumes: []*corev1.PersistentVolume{volume(driver.CephFS, handle(fsid, 1), map[string]string{
				"clusterID": fsid, "fsName": "f", "subvolumePath": "/volumes/csi/csi-vol-1/2",
			})},
			want: Usage{Places: []Place{
				{Placement: ceph.Placement{FSID: fsid, Filesystem: "f"}, IDs: []int64{1}, Directories: []string{"/volumes/csi"}, Volumes: 1},
				{Placement: ceph.Placement{FSID: fsid, Filesystem: "f", DataPool: "fast"}, Classes: []string{"c"}},
			}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Of(tc.driver, tc.config, tc.classes, tc.volumes)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSnapshots(t *testing.T) {
	var all []Snapshot
	for _, name := range []string{"rbd.csi.ceph.com", "cephfs.csi.ceph.com", "rook-ceph.rbd.csi.ceph.com", "other"} {
		all = append(all, Snapshot{name, handle(fsid, 3)}, Snapshot{name, handle(fsid, 3)}, Snapshot{name, "my-snapshot"})
	}
	one := []Place{{Placement: ceph.Placement{FSID: fsid}, IDs: []int64{3}, Snapshots: 2}}
	for name, tc := range map[string]struct {
		driver driver.Driver
		want   Usage
	}{"RBD": {driver.RBD, Usage{Places: one, Others: one}}, "CephFS": {driver.CephFS, Usage{Places: one}}} {
		if diff := cmp.Diff(tc.want, Of(tc.driver, nil, nil, nil, all...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestOthers: each driver has those of other deployments whose volumes are like its own.
func TestOthers(t *testing.T) {
	rbd, files := map[string]string{"clusterID": "rook", "pool": "a", "dataPool": "d"}, map[string]string{"clusterID": "rook", "fsName": "f", "pool": "a"}
	a := Place{Placement: ceph.Placement{FSID: "rook", Pool: "a", DataPool: "d"}, IDs: []int64{3}, Volumes: 1}
	f := Place{Placement: ceph.Placement{FSID: "rook", Filesystem: "f", DataPool: "a"}, IDs: []int64{3}, Volumes: 1}
	tests := map[string]struct {
		name, handle string
		attributes   map[string]string
		rbd, cephFS  []Place
	}{
		"Rook":          {name: "rook-ceph.rbd.csi.ceph.com", handle: handle("rook", 3), attributes: rbd, rbd: []Place{a}},
		"RookFiles":     {name: "rook-ceph.cephfs.csi.ceph.com", handle: handle("rook", 3), attributes: files, cephFS: []Place{f}},
		"ODFExports":    {name: "openshift-storage.nfs.csi.ceph.com", handle: handle("rook", 3), attributes: files, cephFS: []Place{f}},
		"Renamed":       {name: "team.example.com", handle: handle("rook", 3), attributes: rbd, rbd: []Place{a}},
		"RenamedFiles":  {name: "team.example.com", handle: handle("rook", 3), attributes: files, cephFS: []Place{f}},
		"Nobody's":      {name: "team.example.com", handle: "vol-1", attributes: rbd},
		"NameInAName":   {name: "notrbd.csi.ceph.com", handle: "vol-1", attributes: rbd},
		"RenamedNoMark": {name: "team.example.com", handle: handle("rook", 3)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pv := volume(driver.RBD, tc.handle, tc.attributes)
			pv.Spec.CSI.Driver = tc.name
			for _, d := range driver.All {
				want := Usage{Others: tc.rbd}
				if d.Name == driver.CephFS.Name {
					want.Others = tc.cephFS
				}
				if diff := cmp.Diff(want, Of(d, nil, nil, []*corev1.PersistentVolume{pv})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", d.Kind, diff)
				}
			}
		})
	}
}

func TestCounts(t *testing.T) {
	elsewhere := map[string]string{"clusterID": "other", "pool": "a"}
	got := Of(driver.RBD, nil, nil, []*corev1.PersistentVolume{
		volume(driver.RBD, handle(fsid, 3), map[string]string{"pool": "a"}), volume(driver.RBD, "x", elsewhere),
	})
	if places := got.In(ceph.Cluster{FSID: fsid}); len(places) != 1 || places[0].Pool != "a" || len(got.In(ceph.Cluster{FSID: "none"})) != 0 {
		t.Errorf("the clusterID of the handle counts where attributes have none: %+v", places)
	}
	if got.Volumes() != 2 || got.LegacyVolumes() != 0 {
		t.Errorf("got %d volumes, %d legacy ones, want 2 and none", got.Volumes(), got.LegacyVolumes())
	}
}

// TestIn: a clusterID of an administrator's leads where its mons are, an fsid to itself alone.
func TestIn(t *testing.T) {
	const lost = "00000000-3a1f-4fcb-8b0a-0b6d1f0c2a11"
	cluster := ceph.Cluster{FSID: fsid, MonMap: ceph.MonMap{Mons: []ceph.Mon{{Addrs: []ceph.Address{{IP: "10.0.0.1", Port: 6789}}}}}}
	mons := []string{"10.0.0.1:6789"}
	config := []ceph.ConfigEntry{{ClusterID: "team", Monitors: mons}, {ClusterID: lost, Monitors: mons}, {ClusterID: "far", Monitors: []string{"10.0.0.2:6789"}}}
	var all []*storagev1.StorageClass
	for _, id := range []string{"team", lost, "far", "unknown"} {
		all = append(all, class(driver.RBD, id, map[string]string{"clusterID": id, "pool": "p"}))
	}
	got := Of(driver.RBD, config, all, nil).In(cluster)
	if len(got) != 1 || got[0].FSID != fsid || got[0].Classes[0] != "team" {
		t.Errorf("in the Ceph cluster: %+v", got)
	}
}

// BenchmarkOf is one look at a large cluster.
func BenchmarkOf(b *testing.B) {
	attributes := map[string]string{"clusterID": fsid, "pool": "a", "journalPool": "a"}
	var volumes []*corev1.PersistentVolume
	for range 20000 {
		volumes = append(volumes, volume(driver.RBD, handle(fsid, 3), attributes))
	}
	b.ReportAllocs()
	for b.Loop() {
		if got := Of(driver.RBD, nil, nil, volumes); len(got.Places) != 1 {
			b.Fatalf("got %+v", got)
		}
	}
}

func TestOnlyNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		place  Place
		want   bool
	}{
		"Class":    {"named only", Place{Classes: []string{"c"}}, true},
		"Unnamed":  {"something else that is known of it has brought it here", Place{}, false},
		"Volume":   {"a volume", Place{Classes: []string{"c"}, Volumes: 1}, false},
		"Snapshot": {"a snapshot without its volume", Place{Snapshots: 1}, false},
		"Journal":  {"what volumes in another pool cannot be deleted without", Place{Classes: []string{"c"}, Journal: true}, false},
	} {
		if got := tc.place.OnlyNamed(); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
