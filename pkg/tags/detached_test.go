package tags

import (
	"context"
	"fmt"
	"testing"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// detach has a volume of an attacher detached.
func (r *rig) detach(t *testing.T, attacher, volume string) {
	t.Helper()
	attachments := r.kube.StorageV1().VolumeAttachments()
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-" + volume}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: attacher, NodeName: "node-0", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}}
	if _, err := attachments.Create(t.Context(), a, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	seen := func(want bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			_, err := r.config.Attachments.Lister().Get(a.Name)
			return (err == nil) == want, nil
		}); err != nil {
			t.Fatalf("the informer does not learn that the volume is attached: %t", want)
		}
	}
	seen(true)
	if err := attachments.Delete(t.Context(), a.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	seen(false)
}

// hear waits until the controller knows what was detached.
func (r *rig) hear(t *testing.T) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return r.controller.news.Load(), nil
	}); err != nil {
		t.Fatal("the controller does not hear of it")
	}
}

// nameless are tags without the cluster's.
func nameless(values map[string]string) map[string]string {
	delete(values, ceph.TagCluster)
	return values
}

// TestDetachedVolumesAreTagged: ceph-csi 3.16 and later take the cluster's name from a subvolume when they detach it.
func TestDetachedVolumesAreTagged(t *testing.T) {
	f, r := fixtures["CephFS"], newRig(t, driver.CephFS)
	for i := 1; i <= 2; i++ {
		f.add(r, i)
		r.add(t, provisioned(driver.CephFS, i, 1))
	}
	r.later(t, 0)
	for i := 1; i <= 2; i++ {
		f.expect(t, r, i, own(i))
		r.ceph.AddSubvolume(subvolumeOf(i), flat(nameless(own(i)))...)
	}
	r.detach(t, "other.example.com", "pvc-2")
	r.detach(t, driver.CephFS.Name, "pvc-1")
	reads := r.client.reads
	r.hear(t)
	r.later(t, lookPause)
	f.expect(t, r, 1, own(1))
	if n := r.client.reads - reads; n != 1 {
		t.Errorf("%d volumes were read, want the one that was detached", n)
	}
}

// TestDetachedShownSnapshots: of a volume that shows a snapshot, it is the snapshot that loses it.
func TestDetachedShownSnapshots(t *testing.T) {
	f, r := snapshotsOf["cephfs"], newRig(t, driver.CephFS)
	f.add(r, 5, flat(ownSnapshot(5))...)
	r.snapshots.Set([]*usage.Content{taken(5)})
	r.ceph.AddJournal("myfs-metadata", "csi", "csi.volume."+uuid(1), "csi.volume.backingsnapshotid",
		fmt.Sprintf("0001-0024-%s-%016x-%s", cephtest.FSID, 1, uuid(5)))
	pv := provisioned(driver.CephFS, 1, 1)
	pv.Spec.CSI.VolumeAttributes["backingSnapshot"] = "true"
	r.add(t, pv)
	r.later(t, 0)
	r.ceph.AddSubvolume(subvolumeSnapshot(5), flat(nameless(ownSnapshot(5)))...)
	r.detach(t, driver.CephFS.Name, "pvc-1")
	r.hear(t)
	r.later(t, lookPause)
	f.expect(t, r, 5, ownSnapshot(5))
}
