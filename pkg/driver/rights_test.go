package driver

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func at(place ceph.Placement, ids ...int64) Used { return Used{Placement: place, IDs: ids} }

func inPool(pool string) ceph.Placement  { return ceph.Placement{Pool: pool} }
func inFiles(name string) ceph.Placement { return ceph.Placement{Filesystem: name} }
func both(caps ceph.Caps) UserCaps       { return UserCaps{Provisioner: caps, Node: caps} }

const (
	claim = "k.infra.x"
	byTag = "allow rwx tag rbd k.infra.x=in-use, allow rwx tag rbd k.infra.x=unprotected"
)

func rbdCaps(mgr, osd string) UserCaps {
	return both(ceph.Caps{Mon: "profile rbd", Mgr: mgr, OSD: osd})
}

// withoutRights is UserCaps in which some names are left out.
func withoutRights(caps UserCaps, names ...string) UserCaps {
	caps.LeftOut = names
	return caps
}

func filesystem(id int64) ceph.FileSystem {
	return ceph.FileSystem{ID: id, Name: string(rune('a' + id - 1)), MetadataPool: 10 * id}
}

// inFilesystem are the caps where one filesystem's journal is in namespace csi and its volumes are in
// directories, of which groups are subvolume groups.
func inFilesystem(name string, groups []string, directories ...string) UserCaps {
	caps := UserCaps{Provisioner: ceph.Caps{Mon: "allow r"}, Node: ceph.Caps{Mon: "allow r"}}
	caps.Provisioner.OSD = ceph.Grants("allow rw namespace=csi tag cephfs metadata="+name,
		"allow rw namespace=csi tag cephfs k.infra.x=in-use", "allow rw namespace=csi tag cephfs k.infra.x=unprotected")
	caps.Node.OSD = ceph.Grants("allow r namespace=csi tag cephfs metadata="+name, "allow rw tag cephfs data="+name,
		"allow r namespace=csi tag cephfs k.infra.x=in-use", "allow r namespace=csi tag cephfs k.infra.x=unprotected")
	var manages, asks, mounts []string
	ask := func(group string) {
		at := " with vol_name=" + name + " group_name=" + group
		mounted := " with vol_name=" + name + " key_name prefix .cephfs.csi.ceph.com/userid/ group_name=" + group
		asks = append(asks, `allow command "fs subvolume info"`+at, `allow command "fs subvolume snapshot info"`+at,
			`allow command "fs subvolume metadata set"`+mounted, `allow command "fs subvolume snapshot metadata set"`+mounted)
	}
	for _, group := range groups {
		for _, command := range []string{
			"fs clone cancel", "fs clone status", "fs subvolume create", "fs subvolume getpath", "fs subvolume info",
			"fs subvolume metadata ls", "fs subvolume metadata rm", "fs subvolume metadata set", "fs subvolume pin", "fs subvolume resize", "fs subvolume rm",
			"fs subvolume snapshot create", "fs subvolume snapshot info", "fs subvolume snapshot metadata ls", "fs subvolume snapshot metadata rm",
			"fs subvolume snapshot metadata set", "fs subvolume snapshot rm", "fs subvolumegroup create",
		} {
			manages = append(manages, `allow command "`+command+`" with group_name=`+group)
		}
		manages = append(manages, `allow command "fs subvolume snapshot clone" with group_name=`+group+" target_group_name="+group)
		ask(group)
		mounts = append(mounts, "allow rw fsname="+name+" path=/volumes/"+group)
	}
	if len(groups) > 0 {
		one := "(" + strings.Join(groups, "|") + ")/[A-Za-z0-9_-][A-Za-z0-9_.-]*"
		manages = append(manages, `allow command "fs quiesce" with members regex "[[]`+one+"(,"+one+`)*[]]"`, `allow command "fs quiesce" with release=1`)
	}
	for _, directory := range directories {
		if group, found := strings.CutPrefix(directory, "/volumes/"); found {
			ask(group)
		}
		mounts = append(mounts, "allow rw fsname="+name+" path="+directory)
	}
	caps.Provisioner.Mgr, caps.Node.Mgr, caps.Node.MDS = ceph.Grants(manages...), ceph.Grants(asks...), ceph.Grants(mounts...)
	return caps
}

// inNamespace are caps with the journal in another namespace than csi.
func inNamespace(caps UserCaps, namespace string) UserCaps {
	for _, osd := range []*string{&caps.Provisioner.OSD, &caps.Node.OSD} {
		*osd = strings.ReplaceAll(*osd, "namespace=csi", "namespace="+namespace)
	}
	return caps
}

func TestCaps(t *testing.T) {
	a, b := filesystem(1), filesystem(2)
	pools := []ceph.Pool{{ID: 10, Name: "a-meta"}, {ID: 11, Name: "a-data"}, {ID: 20, Name: "b meta"}}
	csi := []string{"csi"}
	inA := inFilesystem("a", csi)
	inAB := UserCaps{Provisioner: inA.Provisioner.With(inFilesystem("b", csi).Provisioner), Node: inA.Node.With(inFilesystem("b", csi).Node)}
	elsewhere := inFilesystem("a", csi)
	elsewhere.Provisioner.OSD = ceph.Grants(strings.Split(elsewhere.Provisioner.OSD+", "+strings.ReplaceAll(elsewhere.Provisioner.OSD, "namespace=csi", "namespace=n"), ", ")...)
	elsewhere.Node.OSD = ceph.Grants(strings.Split(elsewhere.Node.OSD+", "+strings.ReplaceAll(elsewhere.Node.OSD, "namespace=csi", "namespace=n"), ", ")...)
	tests := map[string]struct {
		reason string
		rights Rights
		places []Used
		want   UserCaps
	}{
		"RBD none":     {"users exist before there is a pool", images{}, nil, rbdCaps("", byTag)},
		"RBD one":      {"by name for the mons and the mgr, by claim for a running driver", images{}, []Used{at(inPool("p"))}, rbdCaps("profile rbd pool=p", byTag+", profile rbd pool=p")},
		"RBD several":  {"each once", images{}, []Used{at(inPool("q")), at(inPool("p")), at(inPool("q"))}, rbdCaps("profile rbd pool=p, profile rbd pool=q", byTag+", profile rbd pool=p, profile rbd pool=q")},
		"RBD data":     {"the mgr knows images by their first pool", images{}, []Used{at(ceph.Placement{Pool: "p", DataPool: "ec"})}, rbdCaps("profile rbd pool=p", byTag+", profile rbd pool=ec, profile rbd pool=p")},
		"RBD renamed":  {"the new name by the handle, the old one for what still says it", images{}, []Used{at(inPool("p"), 11)}, rbdCaps("profile rbd pool=a-data, profile rbd pool=p", byTag+", profile rbd pool=a-data, profile rbd pool=p")},
		"RBD ID":       {"nothing but a handle", images{}, []Used{at(ceph.Placement{}, 20, 99)}, rbdCaps(`profile rbd pool="b meta"`, byTag+`, profile rbd pool="b meta"`)},
		"RBD nonsense": {"a mistake in a class takes nobody else's rights", images{}, []Used{at(inPool("p")), at(inPool("x'\"y"))}, withoutRights(rbdCaps("profile rbd pool=p", byTag+", profile rbd pool=p"), "x'\"y")},
		"CephFS none":  {"users exist before there is a filesystem", subvolumes{}, nil, UserCaps{Provisioner: ceph.Caps{Mon: "allow r"}, Node: ceph.Caps{Mon: "allow r"}}},
		"CephFS one":   {"what the real driver was seen to work with", subvolumes{}, []Used{at(inFiles("a"))}, inA},
		"CephFS groups": {"nodes mount what an administrator made, or another cluster, and ask in a group that a volume names; controllers in that of config.json only", subvolumes{},
			[]Used{{Placement: ceph.Placement{Filesystem: "a", SubvolumeGroup: "new"}, Directories: []string{"/volumes/old", "/my data"}}},
			inFilesystem("a", []string{"new"}, "/volumes/old", `"/my data"`)},
		"CephFS several": {"each with its own", subvolumes{}, []Used{at(inFiles("a")), at(inFiles("b"))}, inAB},
		"CephFS ID":      {"nothing but a handle", subvolumes{}, []Used{at(ceph.Placement{}, 1)}, inA},
		"CephFS namespaces": {"where config.json keeps the journal of a clusterID", subvolumes{}, []Used{at(inFiles("a")), {Placement: inFiles("a"), Namespace: "n"}},
			elsewhere},
		"CephFS own": {"group and journal of a cluster that shares the filesystem", subvolumes{},
			[]Used{at(ceph.Placement{Filesystem: "a", SubvolumeGroup: "infra", JournalNamespace: "infra"})}, inNamespace(inFilesystem("a", []string{"infra"}), "infra")},
		"CephFS missing": {"it may be made in a moment", subvolumes{}, []Used{at(inFiles("z"))}, inFilesystem("z", csi)},
		"CephFS percent": {"an MDS takes no quotes around a filesystem's name", subvolumes{}, []Used{at(inFiles("5%d")), at(inFiles("a"))}, withoutRights(inA, "5%d")},
		"CephFS blank":   {"no filesystem has one, but a class may say so", subvolumes{}, []Used{at(inFiles("my fs")), at(inFiles("a"))}, withoutRights(inA, "my fs")},
		"CephFS slash":   {"no name of a filesystem", subvolumes{}, []Used{at(inFiles("a/b")), at(inFiles("a"))}, withoutRights(inA, "a/b")},
		"CephFS all":     {"an MDS would take it for every filesystem", subvolumes{}, []Used{at(inFiles("all")), at(inFiles("a"))}, withoutRights(inA, "all")},
		"CephFS percent in a path": {"a path can have quotes", subvolumes{}, []Used{{Placement: inFiles("a"), Directories: []string{"/5%d"}}},
			inFilesystem("a", csi, `"/5%d"`)},
		"CephFS nonsense": {"one directory takes nobody else's rights", subvolumes{},
			[]Used{at(inFiles("a")), {Placement: inFiles("a"), Directories: []string{"/x'\"y"}}, at(inFiles("\n"))}, withoutRights(inA, "\n", "/x'\"y")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got, err := tc.rights.Caps(t.Context(), &fakeCeph{pools: pools, filesystems: []ceph.FileSystem{a, b}}, claim, tc.places)
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
		_, err := rights.Caps(t.Context(), &fakeCeph{listing: errBoom}, claim, []Used{at(ceph.Placement{}, 1)})
		if !errors.Is(err, errBoom) {
			t.Errorf("%T: caps without what a handle names could be too narrow: got %v", rights, err)
		}
	}
	if _, err := (images{}).Caps(t.Context(), &fakeCeph{listing: errBoom}, claim, []Used{at(inPool("p"))}); err != nil {
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
