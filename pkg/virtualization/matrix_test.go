package virtualization

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagev1 "k8s.io/api/storage/v1"
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
