package virtualization

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestAnnotations(t *testing.T) {
	images := driver.RBD.Virtualization
	got := annotations(hints(images, choosing(""), "s", values{cloneStrategyField: "copy", imageFormatField: "pvc"}, nil))
	want := values{
		"cdi.harvesterhci.io/storageProfileCloneStrategy":         "csi-clone",
		"cdi.harvesterhci.io/storageProfileVolumeSnapshotClass":   "s",
		"cdi.harvesterhci.io/storageProfileVolumeModeAccessModes": `{"Block":["ReadWriteMany"]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what CDI does not know (-want +got):\n%s", diff)
	}
	known := values{cloneStrategyField: "csi-clone", claimSetsField: claimSets(images.ClaimSets)}
	if diff := cmp.Diff(values{}, annotations(hints(images, choosing(""), "", known, nil))); diff != "" {
		t.Errorf("what CDI knows is left to it (-want +got):\n%s", diff)
	}
	ours := fieldsOf([]string{"cdi.harvesterhci.io/storageProfileCloneStrategy", "somebody/else"})
	want = values{"cdi.harvesterhci.io/storageProfileCloneStrategy": "csi-clone"}
	if diff := cmp.Diff(want, annotations(hints(images, choosing(""), "", known, ours))); diff != "" {
		t.Errorf("the status has our own value by now (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(values{}, annotations(hints(images, choosing("snapshot"), "", known, ours))); diff != "" {
		t.Errorf("a person chose in the annotation of CDI (-want +got):\n%s", diff)
	}
}
