package uninstall

import (
	"errors"
	"strings"
	"testing"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		"Snapshots":       {reason: "they could not be deleted any more", blockers: blockers{snapshots: []string{"s"}}, want: "VolumeSnapshotContents"},
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
