package virtualization

import (
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// sound are facts without a mistake.
func sound(d driver.Driver) machineFacts {
	class := storageClass("c", func(c *storagev1.StorageClass) {
		c.Provisioner = d.Name
		c.Parameters = map[string]string{"clusterID": "f"}
		c.Annotations = map[string]string{defaultForMachines: "true"}
	})
	foreign := storageClass("foreign", func(c *storagev1.StorageClass) { c.Provisioner = "other"; c.Annotations = map[string]string{} })
	profile := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		cloneStrategyField: "csi-clone", imageFormatField: "pvc", snapshotClassField: "s", claimSetsField: claimSets(d.Virtualization.ClaimSets),
	}}}
	profile.SetName("c")
	config := &unstructured.Unstructured{Object: map[string]any{
		"value": `{"driver.longhorn.io":null,"` + d.Name + `":{"volumeSnapshotClassName":"s","backupVolumeSnapshotClassName":""}}`,
	}}
	config.SetName("csi-driver-config")
	return machineFacts{
		driver: d, classes: []*storagev1.StorageClass{class, foreign}, profiles: []*unstructured.Unstructured{profile},
		snapshots: []snapshotClass{
			{name: "s", driver: d.Name, clusterID: "f", isDefault: true}, {name: "t", driver: d.Name, clusterID: "g"}, {name: "o", driver: "other", isDefault: true},
		},
		snapshotting: true, harvester: true, config: config, csiDrivers: []string{d.Name, "other"},
		importers: []*unstructured.Unstructured{{Object: map[string]any{"spec": map[string]any{"cloneStrategyOverride": "csi-clone"}}}},
	}
}

func TestMistakes(t *testing.T) {
	spec := func(f machineFacts) map[string]any { return f.profiles[0].Object["spec"].(map[string]any) }
	entry := func(f *machineFacts, key, value string) { f.config.Object["value"] = `{"` + key + `":` + value + `}` }
	held := func(state operatorv1.StorageClassStateName, class string) func(*machineFacts) {
		return func(f *machineFacts) {
			f.held, f.images, f.classes[0].Name, f.profiles = state, []string{"n/a", "n/b"}, class, nil
		}
	}
	rbd := driver.RBD.Name
	tests := map[string]struct {
		reason string
		change func(*machineFacts)
		want   string
		about  string
		text   string
	}{
		"Sound": {reason: "others' entries and classes are not ours to judge", change: func(*machineFacts) {}},
		"NoSnapshots": {
			reason: "where nothing can be snapshotted, no class is missing",
			change: func(f *machineFacts) { f.snapshotting, f.snapshots = false, nil },
		},
		"NoClass":  {reason: "snapshots would fail", change: func(f *machineFacts) { f.snapshots[0].clusterID = "x"; delete(spec(*f), snapshotClassField) }, want: condition.SnapshotClassNotFound, about: "c"},
		"Missing":  {reason: "CDI stops at it", change: func(f *machineFacts) { spec(*f)[snapshotClassField] = "gone" }, want: condition.SnapshotClassNotFound, about: "c"},
		"Driver":   {reason: "CDI copies byte by byte then", change: func(f *machineFacts) { spec(*f)[snapshotClassField] = "o" }, want: condition.SnapshotClassDriver, about: "c"},
		"Cluster":  {reason: "snapshots would be sought in another Ceph", change: func(f *machineFacts) { spec(*f)[snapshotClassField] = "t" }, want: condition.SnapshotClassCluster, about: "c"},
		"Strategy": {reason: "the CRD takes any text", change: func(f *machineFacts) { spec(*f)[cloneStrategyField] = "csiclone" }, want: condition.UnknownCloneStrategy, about: "c"},
		"Format":   {reason: "the CRD takes any text", change: func(f *machineFacts) { spec(*f)[imageFormatField] = "foo" }, want: condition.UnknownSourceFormat, about: "c"},
		"Shared": {
			reason: "two nodes would destroy a filesystem on an image",
			change: func(f *machineFacts) {
				spec(*f)[claimSetsField] = claimSets([]driver.ClaimSet{{AccessMode: "ReadWriteMany", VolumeMode: "Filesystem"}})
			},
			want: condition.UnusableClaimSet, about: "c",
		},
		"Encrypted": {reason: "Harvester takes it for Longhorn's", change: func(f *machineFacts) { f.classes[0].Parameters["encrypted"] = "true" }, want: condition.EncryptedClass, about: "c"},
		"EncryptedElsewhere": {
			reason: "elsewhere it works", change: func(f *machineFacts) { f.classes[0].Parameters["encrypted"] = "true"; f.harvester = false },
		},
		"Parameters": {reason: "Harvester lets nobody make the class anew", change: held(operatorv1.ManagedStorageClass, driver.RBD.StorageClass),
			want: condition.StorageClassInUseByImages, about: driver.RBD.StorageClass, text: "keeps its parameters, which the settings would change: Harvester lets nobody delete it while the VirtualMachineImages n/a, n/b use it; delete them, or take the settings back"},
		"Removal": {reason: "nor take it away", change: held(operatorv1.RemovedStorageClass, driver.RBD.StorageClass),
			want: condition.StorageClassInUseByImages, about: driver.RBD.StorageClass, text: "stays although spec.storageClassState is Removed: Harvester lets nobody delete it while the VirtualMachineImages n/a, n/b use it; delete them, or set spec.storageClassState to Managed"},
		"HeldOther":   {reason: "the user's own classes are the user's", change: held(operatorv1.RemovedStorageClass, "c")},
		"TwoDefaults": {reason: "the newest wins, whichever that is", change: func(f *machineFacts) { f.classes[1].Annotations[defaultForMachines] = "true" }, want: condition.MultipleDefaultVirtClasses, about: "c"},
		"TwoForeignDefaults": {
			reason: "others' classes are not ours to judge",
			change: func(f *machineFacts) {
				f.classes[1].Annotations = f.classes[0].Annotations
				f.classes[0].Annotations = nil
			},
		},
		"TwoSnapshotDefaults": {reason: "which one is used is chance", change: func(f *machineFacts) { f.snapshots[1].isDefault = true }, want: condition.MultipleDefaultSnapshotClasses, about: "s"},
		"Override": {
			reason: "it is above all StorageProfiles",
			change: func(f *machineFacts) {
				f.importers[0].Object["spec"] = map[string]any{"cloneStrategyOverride": "copy"}
				f.importers[0].SetName("cdi")
			},
			want: condition.CloneOverride, about: "cdi",
		},
		"Null":    {reason: "Harvester panics", change: func(f *machineFacts) { entry(f, rbd, `null`) }, want: condition.NullEntry, about: "csi-driver-config"},
		"Unknown": {reason: "Rook's names have a prefix", change: func(f *machineFacts) { entry(f, "rook-ceph."+rbd, `{}`) }, want: condition.UnknownDriver, about: "csi-driver-config"},
		"Backup": {reason: "it would promise backups", change: func(f *machineFacts) {
			entry(f, rbd, `{"volumeSnapshotClassName":"s","backupVolumeSnapshotClassName":"b"}`)
		}, want: condition.BackupClassSet, about: "csi-driver-config"},
		"Obsolete":    {reason: "nobody reads it", change: func(f *machineFacts) { entry(f, rbd, `{"volumeSnapshotClassName":"s","supportClone":true}`) }, want: condition.ObsoleteFields, about: "csi-driver-config"},
		"EntryDriver": {reason: "snapshots would fail", change: func(f *machineFacts) { entry(f, rbd, `{"volumeSnapshotClassName":"o"}`) }, want: condition.SnapshotClassDriver, about: "csi-driver-config"},
		"Unreadable":  {reason: "another condition tells", change: func(f *machineFacts) { f.config.Object["value"] = "{" }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := sound(driver.RBD)
			tc.change(&facts)
			found := mistakes(facts)
			if tc.want == "" {
				if len(found) > 0 {
					t.Errorf("%s: got %+v", tc.reason, found)
				}
				return
			}
			if len(found) != 1 || found[0].Reason != tc.want || found[0].Name != tc.about {
				t.Fatalf("%s: got %+v, want %s about %s", tc.reason, found, tc.want, tc.about)
			}
			if !strings.Contains(found[0].Message, tc.about) || !strings.Contains(found[0].Message, tc.text) {
				t.Errorf("%s: %q does not name %s, or not %q", tc.reason, found[0].Message, tc.about, tc.text)
			}
		})
	}
	if found := mistakes(sound(driver.CephFS)); len(found) > 0 {
		t.Errorf("CephFS: got %+v", found)
	}
}
