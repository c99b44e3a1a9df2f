package virtualization

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestSnapshotClassFor(t *testing.T) {
	class := &storagev1.StorageClass{Provisioner: "d", Parameters: map[string]string{"clusterID": "mine"}}
	fits := snapshotClass{name: "m", driver: "d", clusterID: "mine"}
	named := func(name string, change func(*snapshotClass)) snapshotClass {
		out := fits
		out.name = name
		if change != nil {
			change(&out)
		}
		return out
	}
	tests := map[string]struct {
		reason string
		all    []snapshotClass
		want   string
	}{
		"None": {reason: "no snapshots then"},
		"OtherCluster": {
			reason: "CDI would take the first by name, of another Ceph cluster",
			all:    []snapshotClass{named("a", func(s *snapshotClass) { s.clusterID = "other"; s.isDefault = true }), fits}, want: "m",
		},
		"OtherDriver": {
			reason: "the driver counts, too",
			all:    []snapshotClass{named("a", func(s *snapshotClass) { s.driver = "e" })}, want: "",
		},
		"Default": {
			reason: "an administrator has chosen",
			all: []snapshotClass{
				named("a", func(s *snapshotClass) { s.ours = true }), named("z", func(s *snapshotClass) { s.isDefault = true }),
			}, want: "z",
		},
		"Ours":  {reason: "its Secrets are kept", all: []snapshotClass{named("a", nil), named("z", func(s *snapshotClass) { s.ours = true })}, want: "z"},
		"First": {reason: "the answer stands still", all: []snapshotClass{named("z", nil), named("b", nil), named("c", nil)}, want: "b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := snapshotClassFor(class, tc.all); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// choosing is a StorageClass whose annotation for CDI names a clone strategy; empty for one without.
func choosing(strategy string) *storagev1.StorageClass {
	out := &storagev1.StorageClass{}
	if strategy != "" {
		out.Annotations = map[string]string{"cdi.kubevirt.io/clone-strategy": strategy}
	}
	return out
}

func TestHints(t *testing.T) {
	images, files := driver.RBD.Virtualization, driver.CephFS.Virtualization
	const many = "ReadWriteMany"
	sets := func(accessMode, volumeMode string) []any {
		return claimSets([]driver.ClaimSet{{AccessMode: accessMode, VolumeMode: volumeMode}})
	}
	tests := map[string]struct {
		reason        string
		v             driver.Virtualization
		strategy      string
		snapshotClass string
		status        values
		ours          []string
		want          values
	}{
		"KnownImages": {
			reason: "CDI knows the driver's name, but not its best format", v: images, snapshotClass: "s",
			status: values{claimSetsField: sets(many, "Block"), cloneStrategyField: "csi-clone", imageFormatField: "pvc"},
			want:   values{snapshotClassField: "s", imageFormatField: "snapshot"},
		},
		"UnknownImages": {
			reason: "CDI knows nothing", v: images, snapshotClass: "s", status: values{cloneStrategyField: "snapshot"},
			want: values{
				snapshotClassField: "s", imageFormatField: "snapshot", cloneStrategyField: "csi-clone", claimSetsField: claimSets(images.ClaimSets),
			},
		},
		"WithoutSnapshots": {
			reason: "an image cannot be a snapshot", v: images,
			status: values{claimSetsField: sets(many, "Block"), cloneStrategyField: "csi-clone", imageFormatField: "pvc"},
			want:   values{},
		},
		"Kept": {
			reason: "the status has our own values by now", v: images, snapshotClass: "s",
			status: values{claimSetsField: claimSets(images.ClaimSets), cloneStrategyField: "csi-clone", imageFormatField: "snapshot"},
			ours:   []string{claimSetsField, imageFormatField},
			want:   values{snapshotClassField: "s", imageFormatField: "snapshot", claimSetsField: claimSets(images.ClaimSets)},
		},
		"ChosenStrategy": {
			reason: "a person chose, on the StorageClass", v: images, strategy: "copy",
			status: values{claimSetsField: sets(many, "Block"), cloneStrategyField: "copy"},
			want:   values{},
		},
		"ChosenLater": {
			reason: "what is ours in the StorageProfile would win", v: images, strategy: "copy",
			status: values{claimSetsField: sets(many, "Block"), cloneStrategyField: "csi-clone"}, ours: []string{cloneStrategyField},
			want: values{},
		},
		"ChosenByMistake": {
			reason: "CDI would clone by no strategy at all", v: images, strategy: "csiclone",
			status: values{claimSetsField: sets(many, "Block"), cloneStrategyField: ""},
			want:   values{cloneStrategyField: "csi-clone"},
		},
		"WrongFirst": {
			reason: "live migration needs a block device that two nodes may write", v: images,
			status: values{claimSetsField: sets("ReadWriteOnce", "Filesystem"), cloneStrategyField: "csi-clone"},
			want:   values{claimSetsField: claimSets(images.ClaimSets)},
		},
		"Files": {
			reason: "CephFS has no block devices, and its snapshots are no better sources of images", v: files, snapshotClass: "s",
			status: values{claimSetsField: sets(many, "Filesystem"), cloneStrategyField: "csi-clone", imageFormatField: "pvc"},
			want:   values{snapshotClassField: "s"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, hints(tc.v, choosing(tc.strategy), tc.snapshotClass, tc.status, tc.ours)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestSuiting: ceph-csi makes no clone with another encryption than its source's.
func TestSuiting(t *testing.T) {
	const copied, cloned = "copy", "csi-clone"
	for name, tc := range map[string]struct {
		reason, images, disks string
		change                func(images *storagev1.StorageClass)
		want                  string
	}{
		"Encrypted":   {reason: "the image is not", disks: "true", want: copied},
		"Plain":       {reason: "the image is", images: "1", disks: "", want: copied},
		"Both":        {reason: "with the image's passphrase", images: "true", disks: "1", want: cloned},
		"None":        {reason: "as ever", images: "false", want: cloned},
		"OtherDriver": {reason: "CDI copies from one driver to another", disks: "true", change: func(c *storagev1.StorageClass) { c.Provisioner = "other" }, want: cloned},
		"NoDefault":   {reason: "nobody knows where images are", disks: "true", change: func(c *storagev1.StorageClass) { c.Annotations = nil }, want: cloned},
	} {
		t.Run(name, func(t *testing.T) {
			images, disks := classOf("image", driver.RBD.Name, ""), classOf("disk", driver.RBD.Name, "")
			images.Parameters["encrypted"], disks.Parameters["encrypted"] = tc.images, tc.disks
			images.Annotations = map[string]string{defaultForMachines: "true"}
			if tc.change != nil {
				tc.change(images)
			}
			if got := suiting(driver.RBD.Virtualization, disks, bootImages([]*storagev1.StorageClass{images, disks})).CloneStrategy; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
