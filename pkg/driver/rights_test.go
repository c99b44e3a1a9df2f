package driver

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func at(place ceph.Placement, ids ...int64) Used { return Used{Placement: place, IDs: ids} }

func inPool(pool string) ceph.Placement  { return ceph.Placement{Pool: pool} }
func inFiles(name string) ceph.Placement { return ceph.Placement{Filesystem: name} }
func both(caps ceph.Caps) UserCaps       { return UserCaps{Provisioner: caps, Node: caps} }
func rbdCaps(mgr, osd string) UserCaps {
	return both(ceph.Caps{Mon: "profile rbd", Mgr: mgr, OSD: osd})
}
func filesystem(id int64) ceph.FileSystem {
	return ceph.FileSystem{ID: id, Name: string(rune('a' + id - 1)), MetadataPool: 10 * id}
}

func fileCaps(journals, data, mounts string) UserCaps {
	return UserCaps{
		Provisioner: ceph.Caps{Mon: "allow r", Mgr: "allow module volumes rw", OSD: journals},
		Node:        ceph.Caps{Mon: "allow r", OSD: data, MDS: mounts},
	}
}

func TestCaps(t *testing.T) {
	a, b := filesystem(1), filesystem(2)
	pools := []ceph.Pool{{ID: 10, Name: "a-meta"}, {ID: 11, Name: "a-data"}, {ID: 20, Name: "b meta"}}
	tests := map[string]struct {
		reason string
		rights Rights
		places []Used
		want   UserCaps
	}{
		"RBD none":     {"users exist before there is a pool", images{}, nil, rbdCaps("", "")},
		"RBD one":      {"what facts say to mint", images{}, []Used{at(inPool("p"))}, rbdCaps("profile rbd pool=p", "profile rbd pool=p")},
		"RBD several":  {"each once", images{}, []Used{at(inPool("q")), at(inPool("p")), at(inPool("q"))}, rbdCaps("profile rbd pool=p, profile rbd pool=q", "profile rbd pool=p, profile rbd pool=q")},
		"RBD data":     {"the mgr knows images by their first pool", images{}, []Used{at(ceph.Placement{Pool: "p", DataPool: "ec"})}, rbdCaps("profile rbd pool=p", "profile rbd pool=ec, profile rbd pool=p")},
		"RBD renamed":  {"the new name by the handle, the old one for what still says it", images{}, []Used{at(inPool("p"), 11)}, rbdCaps("profile rbd pool=a-data, profile rbd pool=p", "profile rbd pool=a-data, profile rbd pool=p")},
		"RBD ID":       {"nothing but a handle", images{}, []Used{at(ceph.Placement{}, 20, 99)}, rbdCaps(`profile rbd pool="b meta"`, `profile rbd pool="b meta"`)},
		"RBD nonsense": {"a mistake in a class takes nobody else's rights", images{}, []Used{at(inPool("p")), at(inPool("x'\"y"))}, rbdCaps("profile rbd pool=p", "profile rbd pool=p")},
		"CephFS none":  {"users exist before there is a filesystem", subvolumes{}, nil, fileCaps("", "", "")},
		"CephFS one": {"what facts say to mint", subvolumes{}, []Used{at(inFiles("a"))},
			fileCaps("allow rw pool=a-meta namespace=csi", "allow rw tag cephfs data=a", "allow rw fsname=a path=/volumes/csi")},
		"CephFS groups": {"the group of new volumes, those of old ones, and volumes of an administrator", subvolumes{},
			[]Used{{Placement: ceph.Placement{Filesystem: "a", SubvolumeGroup: "new"}, Directories: []string{"/volumes/old", "/my data"}}},
			fileCaps("allow rw pool=a-meta namespace=csi", "allow rw tag cephfs data=a",
				`allow rw fsname=a path="/my data", allow rw fsname=a path=/volumes/new, allow rw fsname=a path=/volumes/old`)},
		"CephFS several": {"each with its own", subvolumes{}, []Used{at(inFiles("a")), at(inFiles("b"))},
			fileCaps(`allow rw pool="b meta" namespace=csi, allow rw pool=a-meta namespace=csi`, "allow rw tag cephfs data=a, allow rw tag cephfs data=b",
				"allow rw fsname=a path=/volumes/csi, allow rw fsname=b path=/volumes/csi")},
		"CephFS ID": {"nothing but a handle", subvolumes{}, []Used{at(ceph.Placement{}, 1)},
			fileCaps("allow rw pool=a-meta namespace=csi", "allow rw tag cephfs data=a", "allow rw fsname=a path=/volumes/csi")},
		"CephFS namespaces": {"where config.json keeps the journal of a clusterID", subvolumes{}, []Used{at(inFiles("a")), {Placement: inFiles("a"), Namespace: "n"}},
			fileCaps("allow rw pool=a-meta namespace=csi, allow rw pool=a-meta namespace=n", "allow rw tag cephfs data=a", "allow rw fsname=a path=/volumes/csi")},
		"CephFS missing": {"its journal has no pool yet", subvolumes{}, []Used{at(inFiles("z"))},
			fileCaps("", "allow rw tag cephfs data=z", "allow rw fsname=z path=/volumes/csi")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got, err := tc.rights.Caps(t.Context(), &fakeCeph{pools: pools, filesystems: []ceph.FileSystem{a, b}}, tc.places)
				if err != nil {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				slices.Reverse(tc.places)
			}
		})
	}
}

func TestCapsNeedAnAnswer(t *testing.T) {
	for _, rights := range []Rights{images{}, subvolumes{}} {
		_, err := rights.Caps(t.Context(), &fakeCeph{listing: errBoom}, []Used{at(ceph.Placement{}, 1)})
		if !errors.Is(err, errBoom) {
			t.Errorf("%T: caps without what a handle names could be too narrow: got %v", rights, err)
		}
	}
	if _, err := (images{}).Caps(t.Context(), &fakeCeph{listing: errBoom}, []Used{at(inPool("p"))}); err != nil {
		t.Errorf("names need no answer: %v", err)
	}
}

func TestDirectory(t *testing.T) {
	tests := map[string]struct {
		reason     string
		attributes map[string]string
		want       string
	}{
		"Image":      {"no filesystem", map[string]string{"pool": "p"}, ""},
		"Subvolume":  {"the group of a volume of ceph-csi", map[string]string{"subvolumePath": "/volumes/csi/csi-vol-1/uuid"}, "/volumes/csi"},
		"Trimmed":    {"what was trimmed tells the same", map[string]string{"subvolumePath": "/volumes/csi"}, "/volumes/csi"},
		"Static":     {"an administrator's own directory", map[string]string{"rootPath": "my/data/"}, "/my/data"},
		"InGroup":    {"an administrator's own subvolume", map[string]string{"rootPath": "/volumes/g/v/uuid"}, "/volumes/g"},
		"Everything": {"as declared", map[string]string{"rootPath": "/"}, "/"},
		"Above":      {"goes nowhere else", map[string]string{"rootPath": "/volumes/../../etc"}, "/etc"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Directory(tc.attributes)
			if again := Directory(map[string]string{SubvolumePathAttribute: got}); got != tc.want || again != tc.want {
				t.Errorf("%s: got %q, trimmed %q, want %q", tc.reason, got, again, tc.want)
			}
		})
	}
}
