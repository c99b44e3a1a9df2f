package check

import (
	"testing"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestDrivers(t *testing.T) {
	denied := passthroughCaps
	denied.Mon = ceph.Grants("allow r", `allow command "osd blocklist"`)
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   []expect
	}{
		"NamedPool": {
			reason: "--pool",
			change: func(r *rig) { r.config.Pool = "vms" },
			want:   []expect{{group: "RBD", name: "pool", state: OK, message: []string{"vms exists, for application rbd"}}},
		},
		"MissingPool": {
			reason: "--pool that does not exist: what there is, and how to make it",
			change: func(r *rig) { r.config.Pool = "fast" },
			want: []expect{{group: "RBD", name: "pool", state: Wrong, message: []string{`"fast"`, "the command line", `"vms"`},
				fix: "ceph osd pool create fast; ceph osd pool application enable fast rbd"}},
		},
		"NoApplication": {
			reason: "it works, and Ceph warns of it",
			change: func(r *rig) {
				r.ceph.AddPool(ceph.Pool{Name: "bare"})
				r.config.Pool = "bare"
			},
			want: []expect{{group: "RBD", name: "pool", state: Note, message: []string{"POOL_APP_NOT_ENABLED"}, fix: "ceph osd pool application enable bare rbd"}},
		},
		"OtherApplication": {
			reason: "a pool of CephFS is no place for images",
			change: func(r *rig) {
				r.ceph.AddPool(ceph.Pool{Name: "files", Applications: []string{"cephfs"}})
				r.config.Pool = "files"
			},
			want: []expect{{group: "RBD", name: "pool", state: Wrong, message: []string{"belongs to application cephfs"}}},
		},
		"OnlyPool": {
			reason: "who may not make pools gets the only one",
			change: func(r *rig) { r.as("x", denied) },
			want: []expect{
				{group: "RBD", name: "pool", state: OK, message: []string{"vms exists"}},
				{group: "User", name: "pool protection", state: Note},
			},
		},
		"NoPool": {
			reason: "who may not make pools needs one; a placeholder is no command",
			change: func(r *rig) {
				r.ceph.RemovePool("vms")
				r.as("x", denied)
			},
			want: []expect{{group: "RBD", name: "pool", state: Wrong, fix: "ceph osd pool create rbd; ceph osd pool application enable rbd rbd"}},
		},
		"Settings": {
			reason: "what the ClusterCSIDriver says counts, where the command line says nothing",
			change: func(r *rig) {
				r.tune("rbd.csi.ceph.com", map[string]any{"pool": "vms"})
				r.withCluster()
			},
			want: []expect{{group: "RBD", name: "pool", state: OK, message: []string{"vms exists"}}},
		},
		"InvalidSettings": {
			reason: "a field of the wrong type",
			change: func(r *rig) {
				r.tune("rbd.csi.ceph.com", map[string]any{"pool": int64(5)})
				r.withCluster()
			},
			want: []expect{{group: "RBD", name: "volumes", state: Wrong, message: []string{"spec.driverConfig.ceph.pool"}, fix: "oc edit clustercsidriver rbd.csi.ceph.com"}},
		},
		"DataElsewhere": {
			reason: "the users that the operator makes have no caps for a pool that no class names",
			change: func(r *rig) {
				r.ceph.SetOption("rbd_default_data_pool", "ec")
				r.objects = append(r.objects, class("fast", "rbd.csi.ceph.com", map[string]string{"pool": "vms"}))
				r.objects = append(r.objects, class("placed", "rbd.csi.ceph.com", map[string]string{"pool": "vms", "dataPool": "vms"}))
				theirs := class("theirs", "rbd.csi.ceph.com", map[string]string{"pool": "vms"}).(*storagev1.StorageClass)
				theirs.Parameters["clusterID"] = "another"
				r.objects = append(r.objects, theirs)
				r.withCluster()
			},
			want: []expect{{group: "RBD", name: "data pool", state: Wrong, message: []string{`rbd_default_data_pool of Ceph's configuration is "ec"`, "StorageClasses ceph-rbd, fast "},
				fix: "oc edit clustercsidriver rbd.csi.ceph.com  # set ceph.dataPool: ec"}},
		},
		"DataElsewhereShared": {
			reason: "a user that the drivers share may have caps for it",
			change: func(r *rig) {
				r.ceph.SetOption("rbd_default_data_pool", "ec")
				r.as("x", readme)
			},
			want: []expect{{group: "RBD", name: "data pool", state: Note, fix: "ceph config rm client rbd_default_data_pool"}},
		},
		"DataNamed": {
			reason: "the users get caps for what a class names",
			change: func(r *rig) {
				r.ceph.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}})
				r.ceph.SetOption("rbd_default_data_pool", "ec")
				r.tune("rbd.csi.ceph.com", map[string]any{"pool": "vms", "dataPool": "ec"})
				r.objects = append(r.objects, class("fast", "rbd.csi.ceph.com", map[string]string{"pool": "vms"}))
				r.withCluster()
			},
			want: []expect{{group: "RBD", name: "pool", state: OK}},
		},
		"DataInPlace": {
			reason: "it is where the images are",
			change: func(r *rig) {
				r.ceph.SetOption("rbd_default_data_pool", "vms")
				r.config.Pool = "vms"
			},
			want: []expect{{group: "RBD", name: "pool", state: OK}},
		},
		"DataUnseen": {
			reason: "profile rbd does not show the configuration",
			change: func(r *rig) {
				r.config.Drivers = r.config.Drivers[:1]
				r.config.Pool = "vms"
				r.as("x", ceph.Caps{Mon: "profile rbd", Mgr: "profile rbd", OSD: "profile rbd pool=vms"})
			},
			want: []expect{{group: "RBD", name: "data pool", state: Unknown, message: []string{"may not see"}}},
		},
		"NoFilesystem": {
			reason: "nothing for CephFS to work with",
			change: func(r *rig) { r.ceph.RemoveFileSystem("myfs") },
			want:   []expect{{group: "CephFS", name: "filesystem", state: Wrong, fix: "ceph fs volume create cephfs"}},
		},
		"NoNamedFilesystem": {
			reason: "the settings go on naming the one that is gone",
			change: func(r *rig) {
				r.ceph.RemoveFileSystem("myfs")
				r.tune("cephfs.csi.ceph.com", map[string]any{"filesystem": "shared"})
				r.withCluster()
			},
			want: []expect{{group: "CephFS", name: "filesystem", state: Wrong, message: []string{"spec.driverConfig.ceph of ClusterCSIDriver cephfs.csi.ceph.com"}, fix: "ceph fs volume create shared"}},
		},
		"NoFilesystemNeeded": {
			reason: "--driver=rbd",
			change: func(r *rig) {
				r.ceph.RemoveFileSystem("myfs")
				r.config.Drivers = r.config.Drivers[:1]
			},
			want: []expect{{group: "RBD", name: "pool", state: OK}},
		},
		"NoMDS": {
			reason: "the filesystem is there and offline",
			change: func(r *rig) { r.ceph.SetActive("myfs", false) },
			want:   []expect{{group: "CephFS", name: "filesystem", state: Wrong, message: []string{"myfs"}, fix: "ceph fs status myfs"}},
		},
		"Untagged": {
			reason: "minted users' caps go by the keys of Ceph itself",
			change: func(r *rig) {
				r.ceph.SetPoolMetadata("myfs-data", "cephfs", "data", "")
				r.ceph.SetPoolMetadata("myfs-metadata", "cephfs", "metadata", "former")
			},
			want: []expect{{group: "CephFS", name: "filesystem pools", state: Wrong, message: []string{`pools of filesystem "myfs"`},
				fix: "ceph osd pool application set myfs-metadata cephfs metadata myfs; ceph osd pool application set myfs-data cephfs data myfs"}},
		},
		"UntaggedUnminted": {
			reason: "the drivers work as a user who reaches every pool",
			change: func(r *rig) {
				r.ceph.SetPoolMetadata("myfs-data", "cephfs", "data", "")
				r.tune("rbd.csi.ceph.com", map[string]any{"credentials": "Passthrough"})
				r.tune("cephfs.csi.ceph.com", map[string]any{"credentials": "Passthrough"})
				r.withCluster()
			},
			want: []expect{{group: "CephFS", name: "filesystem pools", state: Note, fix: "ceph osd pool application set myfs-data cephfs data myfs"}},
		},
		"TwoFilesystems": {
			reason: "the choice is the administrator's",
			change: func(r *rig) { r.ceph.AddFileSystem("other", true) },
			want:   []expect{{group: "CephFS", name: "filesystem", state: Wrong, message: []string{`"myfs", "other"`}, fix: "--filesystem"}},
		},
		"NamedFilesystem": {
			reason: "--filesystem",
			change: func(r *rig) {
				r.ceph.AddFileSystem("other", true)
				r.config.Filesystem = "other"
			},
			want: []expect{{group: "CephFS", name: "filesystem", state: OK, message: []string{"other"}}},
		},
		"MSModeNotNeeded": {
			reason: "ms_mode with mons that speak both",
			change: func(r *rig) {
				r.tune("rbd.csi.ceph.com", map[string]any{"mapOptions": "krbd:ms_mode=prefer-crc"})
				r.withCluster()
			},
			want: []expect{{group: "RBD", name: "ms_mode", state: OK, message: []string{"v2 (krbd:ms_mode=prefer-crc)"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			verify(t, r.run(), tc.want)
		})
	}
}
