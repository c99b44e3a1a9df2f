package virtualization

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestMatrix(t *testing.T) {
	status := func(f *machineFacts) map[string]any { return f.profiles[0].Object["status"].(map[string]any) }
	tests := map[string]struct {
		reason string
		change func(*machineFacts)
		// no are the features that do not work, and what the reason has in it.
		no map[string]string
	}{
		"All":         {reason: "but for backups", change: func(*machineFacts) {}, no: map[string]string{}},
		"NoClaimSets": {reason: "CDI cannot claim a disk", change: func(f *machineFacts) { delete(status(f), claimSetsField) }, no: map[string]string{featureImage: "claim property sets", featureLiveMigration: "ReadWriteMany Block"}},
		"Copy":        {reason: "each disk is copied", change: func(f *machineFacts) { status(f)[cloneStrategyField] = "copy"; f.importers = nil }, no: map[string]string{featureRootDisk: "StorageProfile", featureExport: "copy", featureTemplate: "copy"}},
		"Override": {
			reason: "CDI's own setting is above all", change: func(f *machineFacts) {
				f.importers[0].Object["spec"] = map[string]any{"cloneStrategyOverride": "copy"}
			}, no: map[string]string{featureRootDisk: "CDI", featureExport: "CDI", featureTemplate: "CDI"},
		},
		"Late": {
			reason: "KubeVirt asks for ReadWriteMany alone, and volumes have no place on a node",
			change: func(f *machineFacts) {
				f.classes[0].VolumeBindingMode = ptr.To(storagev1.VolumeBindingWaitForFirstConsumer)
			}, no: map[string]string{},
		},
		"UserSpace":    {reason: "it ends with its pod", change: func(f *machineFacts) { f.classes[0].Parameters["mounter"] = "rbd-nbd" }, no: map[string]string{featureLiveMigration: "rbd-nbd"}},
		"OtherCluster": {reason: "snapshots would fail", change: func(f *machineFacts) { status(f)[snapshotClassField] = "t" }, no: map[string]string{featureSnapshot: "Ceph cluster"}},
		"NoClass":      {reason: "KubeVirt would not know which to take", change: func(f *machineFacts) { delete(status(f), snapshotClassField) }, no: map[string]string{featureSnapshot: "no snapshot class"}},
		"NoSnapshots":  {reason: "nobody makes them", change: func(f *machineFacts) { f.snapshotting = false }, no: map[string]string{featureSnapshot: "CRDs"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := sound(driver.RBD)
			f.profiles[0].Object["status"] = map[string]any{
				claimSetsField: claimSets(driver.RBD.Virtualization.ClaimSets), cloneStrategyField: "csi-clone", snapshotClassField: "s",
			}
			tc.change(&f)
			tc.no[featureBackup] = "not supported"
			got := matrix(f)
			if len(got) != 1 || len(got["c"]) != 8 {
				t.Fatalf("%s: got %v", tc.reason, got)
			}
			for feature, why := range got["c"] {
				want, no := tc.no[feature]
				if no != (why != "") || !strings.Contains(why, want) {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, feature, why, want)
				}
			}
		})
	}
	without := sound(driver.RBD)
	without.profiles = []*unstructured.Unstructured{}
	if diff := cmp.Diff(0, len(matrix(without))); diff != "" {
		t.Errorf("without a StorageProfile, nothing is known (-want +got):\n%s", diff)
	}
}

// TestMatrixOfEncrypted: image is the class of images, which is the default one for virtual machines, disk that of disks.
func TestMatrixOfEncrypted(t *testing.T) {
	const never, copied, cloned = "oc patch storageprofile image ", "disks are copied", "storageclass disk cdi.kubevirt.io/clone-strategy=copy"
	tests := map[string]struct {
		reason string
		// image and disk are the values of the parameter, strategy is that of disks, format that of images.
		image, disk, strategy, format string
		change                        func(*machineFacts)
		rootDisk, template            string
	}{
		"Snapshots":      {reason: "CDI restores them whatever the strategy", disk: "true", strategy: "copy", format: "snapshot", rootDisk: never, template: copied},
		"Volumes":        {reason: "they are copied", disk: "true", strategy: "copy", format: "pvc", rootDisk: copied, template: copied},
		"Cloned":         {reason: "ceph-csi refuses that", disk: "true", strategy: "csi-clone", format: "pvc", rootDisk: cloned},
		"EncryptedImage": {reason: "ceph-csi refuses that as well", image: "true", strategy: "csi-clone", format: "snapshot", rootDisk: never},
		"BothEncrypted":  {reason: "the clone has the passphrase of its image", image: "true", disk: "true", strategy: "csi-clone", format: "snapshot"},
		"NoneEncrypted":  {reason: "as ever", disk: "false", strategy: "csi-clone", format: "snapshot"},
		"OtherDriver": {
			reason: "CDI copies from one driver to another", disk: "true", strategy: "csi-clone", format: "snapshot",
			change: func(f *machineFacts) { f.classes[0].Provisioner = "other" },
		},
		"DefaultOfAll": {
			reason: "without a class for virtual machines, images lie on the default one", disk: "true", strategy: "copy", format: "snapshot", rootDisk: never, template: copied,
			change: func(f *machineFacts) { f.classes[0].Annotations = map[string]string{defaultForAll: "true"} },
		},
		"NoDefault": {
			reason: "images lie where their owner says", disk: "true", strategy: "csi-clone", format: "snapshot",
			change: func(f *machineFacts) { f.classes[0].Annotations = nil },
		},
		"NewerDefault": {
			reason: "CDI takes the newest of several", disk: "true", strategy: "csi-clone", format: "snapshot",
			change: func(f *machineFacts) {
				f.classes[1].Annotations = f.classes[0].Annotations
				f.classes[1].CreationTimestamp = metav1.Now()
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := machineFacts{driver: driver.RBD, snapshotting: true}
			for _, c := range [][]string{{"image", tc.image}, {"disk", tc.disk}} {
				class := classOf(c[0], driver.RBD.Name, "")
				if c[1] != "" {
					class.Parameters["encrypted"] = c[1]
				}
				f.classes = append(f.classes, class)
				f.profiles = append(f.profiles, named(c[0], map[string]any{"status": map[string]any{
					claimSetsField: claimSets(driver.RBD.Virtualization.ClaimSets), cloneStrategyField: tc.strategy, imageFormatField: tc.format,
				}}))
			}
			f.classes[0].Annotations = map[string]string{defaultForMachines: "true"}
			if tc.change != nil {
				tc.change(&f)
			}
			got := matrix(f)["disk"]
			for feature, want := range map[string]string{featureRootDisk: tc.rootDisk, featureTemplate: tc.template} {
				if why := got[feature]; (why != "") != (want != "") || !strings.Contains(why, want) {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, feature, why, want)
				}
			}
		})
	}
}
