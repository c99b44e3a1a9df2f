package tags

import (
	"fmt"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestShownSnapshots: volumes that show a snapshot are marked there, each for itself.
func TestShownSnapshots(t *testing.T) {
	f, r := snapshotsOf["cephfs"], newRig(t, driver.CephFS)
	f.add(r, 5, flat(ownSnapshot(5))...)
	f.add(r, 6, flat(ownSnapshot(6, ceph.TagCluster, "other"))...)
	f.add(r, 7, flat(nameless(ownSnapshot(7, ceph.TagOwner, infraID)))...) // Detached, and its VolumeSnapshotContent is gone.
	shows := func(volume, snapshot int, policy corev1.PersistentVolumeReclaimPolicy) {
		t.Helper()
		r.ceph.AddJournal("myfs-metadata", "csi", "csi.volume."+uuid(volume), "csi.volume.backingsnapshotid",
			fmt.Sprintf("0001-0024-%s-%016x-%s", cephtest.FSID, 1, uuid(snapshot)))
		pv := provisioned(driver.CephFS, volume, 1)
		pv.Spec.PersistentVolumeReclaimPolicy = policy
		r.add(t, pv)
	}
	shows(1, 5, corev1.PersistentVolumeReclaimRetain)
	shows(2, 5, corev1.PersistentVolumeReclaimRetain)
	shows(3, 5, corev1.PersistentVolumeReclaimDelete)
	shows(4, 6, corev1.PersistentVolumeReclaimRetain)
	shows(8, 7, corev1.PersistentVolumeReclaimDelete)
	r.later(t, 0)
	r.later(t, lookPause) // Changes of one snapshot at the same time follow one another.
	f.expect(t, r, 5, ownSnapshot(5, ceph.TagRetainShown(uuid(1)), "true", ceph.TagRetainShown(uuid(2)), "true"))
	f.expect(t, r, 6, ownSnapshot(6, ceph.TagCluster, "other"))
	f.expect(t, r, 7, ownSnapshot(7))
	r.expect(t, operatorv1.ConditionTrue, "AsExpected")
	r.expectCounts(t, Counts{NothingToTag: 5})

	r.change(t, "pvc-1", func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	})
	r.news()
	r.later(t, time.Minute)
	f.expect(t, r, 5, ownSnapshot(5, ceph.TagRetainShown(uuid(2)), "true"))
}
