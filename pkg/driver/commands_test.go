package driver

import (
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestCommands copies commands into a shell that name what somebody else has named.
func TestCommands(t *testing.T) {
	const evil, word = "gold; reboot", "'gold; reboot'"
	var subvolume, snapshot, image Tags
	subvolume.subvolume.Filesystem, subvolume.subvolume.Group, subvolume.subvolume.Name = "cephfs", "csi", evil
	snapshot.subvolume.Filesystem, snapshot.subvolume.Name, snapshot.subvolume.Snapshot = "cephfs", "volume", evil
	image.image.Pool, image.image.Name = "rbd", evil
	lack := func(lacks []Lack) string {
		if len(lacks) != 1 {
			t.Fatalf("%v", lacks)
		}
		return lacks[0].Text
	}
	filesystem := Inventory{FileSystems: []ceph.FileSystem{{Name: evil}}, Pools: []ceph.Pool{{ID: 7, Name: evil, ErasureCoded: true}, {Name: "rbd"}}}
	tests := map[string]struct{ got, want string }{
		"Pool":       {creation(evil), "ceph osd pool create " + word + " && ceph osd pool application enable " + word + " rbd"},
		"Subvolume":  {subvolumes{}.TagCommand(subvolume, "k", "$v"), "ceph fs subvolume metadata set cephfs " + word + " k '$v' --group_name csi"},
		"Snapshot":   {subvolumes{}.TagCommand(snapshot, "k", "v"), "ceph fs subvolume snapshot metadata set cephfs volume " + word + " k v"},
		"Image":      {images{}.TagCommand(image, "k", "v"), "rbd image-meta set 'rbd/gold; reboot' k v"},
		"Filesystem": {lack(subvolumes{}.Lacks(Inventory{}, ceph.Placement{Filesystem: evil})), "ceph fs volume create " + word},
		"DataPool":   {lack(subvolumes{}.Lacks(filesystem, ceph.Placement{Filesystem: evil, DataPool: evil})), "ceph fs add_data_pool " + word + " " + word},
		"Untagged":   {lack(subvolumes{}.Lacks(filesystem, ceph.Placement{Filesystem: evil})), "ceph osd pool application set rbd cephfs metadata " + word},
		"Overwrites": {lack(images{}.Lacks(filesystem, ceph.Placement{Pool: "rbd", DataPool: evil})), "ceph osd pool set " + word + " allow_ec_overwrites true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(tc.got, tc.want) {
				t.Errorf("%s lacks %s", tc.got, tc.want)
			}
		})
	}
}
