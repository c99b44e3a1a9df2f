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
