package uninstall

import (
	"errors"
	"slices"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/controller/controllertest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestRefusal(t *testing.T) {
	many := []string{"g", "f", "e", "d", "c", "b", "a"}
	tests := map[string]struct {
		reason   string
		blockers blockers
		force    bool
		want     string
	}{
		"Nothing":         {reason: "nothing is in the way"},
		"CSO":             {reason: "everything would come back", blockers: blockers{csoKnowsCeph: true}, force: true, want: "cluster-storage-operator"},
		"Attached":        {reason: "pods would lose their disks, force or not", blockers: blockers{attachments: []string{"csi-1"}}, force: true, want: "csi-1"},
		"Detaching":       {reason: "the driver is not done", blockers: blockers{detaching: []string{"csi-1"}}, want: "csi-1"},
		"DetachingForced": {reason: "nobody may be left who does it", blockers: blockers{detaching: []string{"csi-1"}}, force: true},
		"Volumes":         {reason: "they could not be deleted any more", blockers: blockers{volumes: many}, want: "a, b, c, d, e and 2 more"},
		"VolumesForced":   {reason: "the administrator knows", blockers: blockers{volumes: many}, force: true},
		"Snapshots":       {reason: "they could not be deleted any more", blockers: blockers{snapshots: []string{"s"}}, want: "snapshots of the drivers exist (s)"},
		"SnapshotsForced": {reason: "the administrator knows", blockers: blockers{snapshots: []string{"s"}}, force: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := tc.blockers.refusal(tc.force)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.want != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestAttachment(t *testing.T) {
	name := "pvc-1"
	a := storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-36920b9e"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "worker-0"}}
	if got := attachment(a); got != "VolumeAttachment csi-36920b9e" {
		t.Errorf("of an inline volume: %q", got)
	}
	a.Spec.Source.PersistentVolumeName = &name
	if got := attachment(a); got != "pvc-1 to worker-0" {
		t.Errorf("a person knows no hashes: %q", got)
	}
}

// TestFindsSnapshots: those of a group keep a finalizer that only the driver's sidecar takes away.
func TestFindsSnapshots(t *testing.T) {
	of := func(version, kind, name, driverName string) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}, "spec": map[string]any{"driver": driverName},
		}}
	}
	groups := controllertest.GroupSnapshots.GroupVersion().String()
	kube, client := controllertest.Clients(
		controllertest.SnapshotCRD(), of("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", "one", driver.CephFS.Name),
		of("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", "others", "ebs.csi.aws.com"),
		controllertest.CRD(controllertest.GroupSnapshots), of(groups, "VolumeGroupSnapshotContent", "two", driver.RBD.Name),
	)
	got, err := look(t.Context(), Options{Kube: kube, Dynamic: client})
	if want := []string{"VolumeSnapshotContent one", "VolumeGroupSnapshotContent two"}; err != nil || !slices.Equal(got.snapshots, want) {
		t.Errorf("got %q, %v", got.snapshots, err)
	}
	if err := client.Tracker().Delete(ctrl.CRDs, "", ctrl.GroupSnapshotContents.String()); err != nil {
		t.Fatal(err)
	}
	if got, err := look(t.Context(), Options{Kube: kube, Dynamic: client}); err != nil || len(got.snapshots) != 1 {
		t.Errorf("without group snapshots: got %q, %v", got.snapshots, err)
	}
}
