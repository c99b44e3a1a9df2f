package driver

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestHolding(t *testing.T) {
	has := Inventory{
		Pools: []ceph.Pool{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}, {ID: 3, Name: "meta"}, {ID: 4, Name: "data"}},
		FileSystems: []ceph.FileSystem{
			{ID: 1, Name: "f", MetadataPool: 3, DataPools: []int64{4, 2}, Default: true}, {ID: 7, Name: "g", MetadataPool: 5, DataPools: []int64{6}},
		},
	}
	tests := map[string]struct {
		reason  string
		storage Storage
		place   ceph.Placement
		ids     []int64
		want    []int64
	}{
		"Names":       {"pool and data pool", images{}, ceph.Placement{Pool: "b", DataPool: "a"}, nil, []int64{1, 2}},
		"Renamed":     {"the ID in handles stays", images{}, ceph.Placement{Pool: "once"}, []int64{1}, []int64{1}},
		"Gone":        {"nothing is left", images{}, ceph.Placement{Pool: "once"}, []int64{9}, nil},
		"Nameless":    {"an ID alone", images{}, ceph.Placement{}, []int64{2}, []int64{2}},
		"Filesystem":  {"all of its pools", subvolumes{}, ceph.Placement{Filesystem: "f"}, nil, []int64{2, 3, 4}},
		"ID":          {"filesystems have IDs of their own", subvolumes{}, ceph.Placement{}, []int64{7}, []int64{5, 6}},
		"Default":     {"in-tree volumes name no filesystem", subvolumes{}, ceph.Placement{}, nil, []int64{2, 3, 4}},
		"GoneByID":    {"not the default instead", subvolumes{}, ceph.Placement{}, []int64{9}, nil},
		"GoneByName":  {"not the default instead", subvolumes{}, ceph.Placement{Filesystem: "x"}, nil, nil},
		"NameAndMore": {"a class and volumes of a renamed one", subvolumes{}, ceph.Placement{Filesystem: "f"}, []int64{7}, []int64{2, 3, 4, 5, 6}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.storage.Holding(has, tc.place, tc.ids); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestMistaken(t *testing.T) {
	has := Inventory{
		Pools: []ceph.Pool{
			{ID: 1, Name: "images", Applications: []string{"rbd"}}, {ID: 2, Name: "objects", Applications: []string{"rgw"}},
			{ID: 3, Name: "shared", Applications: []string{"rbd", "rgw"}}, {ID: 4, Name: "bare"},
			{ID: 5, Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true},
			{ID: 6, Name: "meta", Applications: []string{"cephfs"}}, {ID: 7, Name: "data", Applications: []string{"cephfs"}},
		},
		FileSystems: []ceph.FileSystem{{ID: 1, Name: "f", MetadataPool: 6, DataPools: []int64{7}}},
	}
	tests := map[string]struct {
		reason string
		survey Survey
		place  ceph.Placement
		want   bool
	}{
		"Own":          {"the driver's application", images{}, inPool("images"), false},
		"Foreign":      {"another application's", images{}, inPool("objects"), true},
		"Filesystem":   {"a filesystem's", images{}, inPool("meta"), true},
		"Shared":       {"the driver's, too", images{}, inPool("shared"), false},
		"Bare":         {"nobody's, so far", images{}, inPool("bare"), false},
		"Missing":      {"it may be made in a moment", images{}, inPool("none"), false},
		"ErasureCoded": {"it can hold no headers of images", images{}, inPool("ec"), true},
		"Unwritable":   {"it can hold no data of images yet", images{}, ceph.Placement{Pool: "images", DataPool: "ec"}, true},
		"ForeignData":  {"whoever may write it, may write a filesystem's metadata", images{}, ceph.Placement{Pool: "images", DataPool: "meta"}, true},
		"BareData":     {"nobody's, so far", images{}, ceph.Placement{Pool: "images", DataPool: "bare"}, false},
		"Files":        {"a filesystem, whose pools lack keys alone", subvolumes{}, inFiles("f"), false},
		"NoFiles":      {"it may be made in a moment", subvolumes{}, inFiles("none"), false},
		"Layout":       {"a data pool of the filesystem", subvolumes{}, ceph.Placement{Filesystem: "f", DataPool: "data"}, false},
		"Elsewhere":    {"no data pool of the filesystem", subvolumes{}, ceph.Placement{Filesystem: "f", DataPool: "objects"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Mistaken(tc.survey, has, tc.place); got != tc.want {
				t.Errorf("%s: got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNamedPoolIsMadeOnDemand(t *testing.T) {
	tests := map[string]struct {
		reason  string
		pools   []ceph.Pool
		create  bool
		refusal error
		writes  []string
		err     error
	}{
		"Report":  {reason: "nobody asked for it", err: ErrNoPool},
		"Create":  {reason: "ceph.missingPools: Create", create: true, writes: []string{"create p", "enable rbd on p"}},
		"Exists":  {reason: "as it is", create: true, pools: []ceph.Pool{{Name: "p", Applications: []string{"rbd"}}}},
		"Foreign": {reason: "never another application's", create: true, pools: []ceph.Pool{{Name: "p", Applications: []string{"rgw"}}}, err: ErrNoPool},
		"Denied":  {reason: "Ceph's refusal", create: true, refusal: ceph.ErrDenied, err: ceph.ErrDenied},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := fakeCeph{pools: tc.pools, create: tc.refusal}
			_, err := images{}.Place(t.Context(), &cluster, Wish{Placement: ceph.Placement{Pool: "p"}, Own: "own", Create: tc.create})
			check(t, tc.reason, err, tc.err, nil)
			if diff := cmp.Diff(tc.writes, cluster.writes); diff != "" {
				t.Errorf("%s: writes (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
