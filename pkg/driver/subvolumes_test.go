package driver

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestSubvolumesPlace(t *testing.T) {
	active := func(name string) ceph.FileSystem { return ceph.FileSystem{Name: name, Active: true} }
	tests := map[string]struct {
		reason string
		ceph   fakeCeph
		wish   ceph.Placement
		want   ceph.Placement
		writes []string
		err    error
		text   []string
	}{
		"None": {
			reason: "no CephFS here at all",
			err:    ErrNoFilesystem,
			text:   []string{"`ceph fs volume create cephfs`"},
		},
		"NoneNamed": {
			reason: "the same command as in StorageClassesUsable: with another name, the class goes on lacking its filesystem",
			wish:   ceph.Placement{Filesystem: "shared"},
			err:    ErrNoFilesystem,
			text:   []string{"StorageClass ceph-cephfs", "`ceph fs volume create shared`"},
		},
		"Only": {
			reason: "the only filesystem and ceph-csi's own group",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("a")}},
			want:   ceph.Placement{Filesystem: "a", SubvolumeGroup: "csi"},
			writes: []string{"group a/csi"},
		},
		"Named": {
			reason: "filesystem and group as wished",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("a"), active("b")}},
			wish:   ceph.Placement{Filesystem: "b", SubvolumeGroup: "apps"},
			want:   ceph.Placement{Filesystem: "b", SubvolumeGroup: "apps"},
			writes: []string{"group b/apps"},
		},
		"Several": {
			reason: "the choice is the administrator's",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("b"), active("a")}},
			err:    ErrFilesystemUnclear,
			text:   []string{`("a", "b")`, "spec.driverConfig.ceph.filesystem of ClusterCSIDriver cephfs.csi.ceph.com"},
		},
		"NamedMissing": {
			reason: "another one would be a surprise",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("a")}},
			wish:   ceph.Placement{Filesystem: "b"},
			err:    ErrFilesystemUnclear,
			text:   []string{`"b"`, "StorageClass ceph-cephfs", `"a"`, "`ceph fs volume create b`"},
		},
		"NoActiveMDS": {
			reason: "group commands would block the mgr for everyone: none is sent",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{{Name: "a"}}},
			err:    ceph.ErrNoActiveMDS,
			text:   []string{`filesystem "a"`, "ceph fs status a"},
		},
		"ManagerSilent": {
			reason: "mons answer, mgr does not: not an outage of the connection",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("a")}, group: ceph.ErrTimeout},
			err:    ErrNoManager,
			text:   []string{`"csi"`, `"a"`},
		},
		"Denied": {
			reason: "no caps for the mgr",
			ceph:   fakeCeph{filesystems: []ceph.FileSystem{active("a")}, group: ceph.ErrDenied},
			err:    ceph.ErrDenied,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.wish.FSID, tc.want.FSID = "fsid", "fsid"
			wish := Wish{Placement: tc.wish, Origin: "StorageClass ceph-cephfs"}
			got, err := subvolumes{}.Place(t.Context(), &tc.ceph, wish)
			check(t, tc.reason, err, tc.err, tc.text)
			if diff := cmp.Diff(tc.writes, tc.ceph.writes); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", tc.reason, diff)
			}
			if err == nil && got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
			if errors.Is(err, ErrNoManager) && errors.Is(err, ceph.ErrTimeout) {
				t.Errorf("%s: the error must not look like an outage", tc.reason)
			}
		})
	}
}

func TestUntagged(t *testing.T) {
	keys := func(key, value string) map[string]map[string]string {
		return map[string]map[string]string{"cephfs": {key: value}}
	}
	files := []string{"cephfs"}
	const metadata, data = "ceph osd pool application set m cephfs metadata f", "ceph osd pool application set d cephfs data f"
	tests := map[string]struct {
		reason         string
		metadata, data ceph.Pool
		want           []string
	}{
		"New":   {"`ceph fs new` writes both", ceph.Pool{Applications: files, Metadata: keys("metadata", "f")}, ceph.Pool{Applications: files, Metadata: keys("data", "f")}, nil},
		"Old":   {"of a release that wrote none", ceph.Pool{Applications: files}, ceph.Pool{Applications: files}, []string{metadata, data}},
		"Bare":  {"keys belong to an application", ceph.Pool{}, ceph.Pool{Applications: files, Metadata: keys("data", "f")}, []string{"ceph osd pool application enable m cephfs", metadata}},
		"Other": {"of another name", ceph.Pool{Applications: files, Metadata: keys("metadata", "f")}, ceph.Pool{Applications: files, Metadata: keys("data", "former")}, []string{data}},
		"Claim": {"another key of the application", ceph.Pool{Applications: files, Metadata: keys("x", "f")}, ceph.Pool{Applications: files, Metadata: keys("data", "f")}, []string{metadata}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.metadata.ID, tc.metadata.Name, tc.data.ID, tc.data.Name = 1, "m", 2, "d"
			pools := []ceph.Pool{tc.metadata, tc.data, {ID: 3, Name: "others", Applications: files}}
			_, got := Untagged(pools, ceph.FileSystem{Name: "f", MetadataPool: 1, DataPools: []int64{2}})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
