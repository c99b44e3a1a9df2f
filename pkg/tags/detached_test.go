package tags

import (
	"context"
	"fmt"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
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

// TestOwners: a volume of another cluster that ceph-csi has detached here is still that cluster's.
func TestOwners(t *testing.T) {
	tests := map[string]struct {
		reason string
		has    map[string]string
		want   map[string]string // nil for what a volume of ours has
		status operatorv1.ConditionStatus
	}{
		"Older":    {reason: "operators before this one did not write it", has: own(1), status: operatorv1.ConditionTrue},
		"Detached": {reason: "ours", has: map[string]string{ceph.TagOwner: infraID}, status: operatorv1.ConditionTrue},
		"Foreign":  {reason: "ceph-csi took the other's name away", has: map[string]string{ceph.TagOwner: "other"}, want: map[string]string{ceph.TagOwner: "other"}, status: operatorv1.ConditionFalse},
		"Mistaken": {reason: "an operator that knew no owner tagged it", has: own(1, ceph.TagOwner, "other"), want: own(1, ceph.TagOwner, "other"), status: operatorv1.ConditionFalse},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, r := fixtures["CephFS"], newRig(t, driver.CephFS)
			f.add(r, 1, flat(tc.has)...)
			r.add(t, provisioned(driver.CephFS, 1, 1))
			r.later(t, 0)
			if tc.want == nil {
				tc.want = own(1)
			}
			f.expect(t, r, 1, tc.want)
			if got := r.operator.Condition("VolumesTagged"); got == nil || got.Status != tc.status {
				t.Errorf("%s: %+v", tc.reason, got)
			}
			writes := r.writes()
			r.later(t, lookPause)
			if n := r.writes() - writes; n > 0 {
				t.Errorf("%s: %d writes more", tc.reason, n)
			}
		})
	}
}

// TestDetachedShownSnapshots: of a volume that shows a snapshot, it is the snapshot that loses the tag. Others are not
// read for that: there may be thousands.
func TestDetachedShownSnapshots(t *testing.T) {
	tests := map[string]struct {
		reason string
		// unread: the volume is detached before it was read; released: it is about to be deleted; gone: it is.
		unread, released, gone bool
		reads                  int
	}{
		"Known":    {reason: "the volume and its snapshot", reads: 2},
		"Unread":   {reason: "the volume tells what it shows, and that the tag is gone", unread: true, reads: 2},
		"Released": {reason: "nobody needs its own tags, but the snapshot stays", released: true, reads: 1},
		"Gone":     {reason: "the snapshot stays", gone: true, reads: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f, r := snapshotsOf["cephfs"], newRig(t, driver.CephFS)
			for i := 5; i <= 7; i++ {
				f.add(r, i, flat(ownSnapshot(i))...)
			}
			r.snapshots.Set([]*usage.Content{taken(5), taken(6), taken(7)})
			r.ceph.AddJournal("myfs-metadata", "csi", "csi.volume."+uuid(1), "csi.volume.backingsnapshotid",
				fmt.Sprintf("0001-0024-%s-%016x-%s", cephtest.FSID, 1, uuid(5)))
			pv := provisioned(driver.CephFS, 1, 1)
			pv.Spec.CSI.VolumeAttributes["backingSnapshot"] = "true"
			if tc.unread {
				r.later(t, 0)
			}
			r.add(t, pv)
			if !tc.unread {
				r.later(t, 0)
			}
			r.ceph.AddSubvolume(subvolumeSnapshot(5), flat(nameless(ownSnapshot(5)))...)
			if tc.released {
				r.change(t, pv.Name, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeReleased })
			}
			if tc.gone {
				r.remove(t, pv.Name)
			}
			r.detach(t, driver.CephFS.Name, pv.Name)
			reads := r.client.reads
			r.hear(t)
			r.later(t, lookPause)
			f.expect(t, r, 5, ownSnapshot(5))
			if n := r.client.reads - reads; n != tc.reads {
				t.Errorf("%s: %d were read, want %d", tc.reason, n, tc.reads)
			}
		})
	}
}
