package removal

import (
	"errors"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestDecide(t *testing.T) {
	unread := errors.New("listing VolumeAttachments: later")
	tests := map[string]struct {
		why    string
		facts  facts
		step   step
		state  operatorv1.ManagementState
		reason string
		tells  string
	}{
		"Managed":    {why: "nobody wants it", facts: facts{held: Held{Volumes: 1}, settled: true, deployed: true}, step: nothing, state: operatorv1.Managed},
		"Unread":     {why: "unreadable is not zero", facts: facts{declared: true, unread: unread, settled: true, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.SyncError, tells: "later"},
		"UnreadGone": {why: "workloads do not come back for that", facts: facts{declared: true, unread: unread}, step: withdraw, state: operatorv1.Removed, reason: condition.SyncError, tells: "later"},
		"Volume":     {why: "it is mounted, and could not be deleted", facts: facts{declared: true, held: Held{Volumes: 1}, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.WaitingForVolumes, tells: "1 PersistentVolume of rbd.csi.ceph.com"},
		"Attachment": {why: "nobody else detaches", facts: facts{declared: true, held: Held{Attachments: 2}, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.WaitingForVolumes, tells: "2 VolumeAttachments of"},
		"Snapshot":   {why: "nobody else deletes the data", facts: facts{declared: true, held: Held{Snapshots: 1}, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.WaitingForVolumes, tells: "1 VolumeSnapshotContent of"},
		"All":        {why: "they are counted", facts: facts{declared: true, held: Held{12, 1, 3, 1}, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.WaitingForVolumes, tells: "12 PersistentVolumes, 1 VolumeAttachment, 3 VolumeSnapshotContents and 1 VolumeGroupSnapshotContent of"},
		"TooLate":    {why: "from a backup", facts: facts{declared: true, held: Held{Volumes: 2}}, step: withdraw, state: operatorv1.Removed, reason: condition.WaitingForVolumes, tells: "2 PersistentVolumes of rbd.csi.ceph.com can be neither"},
		"SeenOnce":   {why: "one may be on its way", facts: facts{declared: true, deployed: true}, step: withdraw, state: operatorv1.Managed, reason: condition.Removing, tells: "30s"},
		"Restarted":  {why: "what was said before still stands", facts: facts{declared: true}, step: withdraw, state: operatorv1.Removed},
		"SeenTwice":  {why: "nothing needs it", facts: facts{declared: true, settled: true, deployed: true}, step: remove, state: operatorv1.Removed, reason: condition.Removing},
		"Rest":       {why: "its workloads have gone already", facts: facts{declared: true, settled: true}, step: remove, state: operatorv1.Removed, reason: condition.Removing},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide(driver.RBD, tc.facts)
			if got.step != tc.step || got.state != tc.state || got.reason != tc.reason || !strings.Contains(got.message, tc.tells) {
				t.Errorf("%s: got %+v", tc.why, got)
			}
		})
	}
}
