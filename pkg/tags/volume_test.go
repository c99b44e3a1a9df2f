package tags

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func TestDecide(t *testing.T) {
	claim := &corev1.ObjectReference{Namespace: "shop", Name: "data"}
	all := own(1)
	without := func(keys ...string) map[string]string {
		out := own(1)
		for _, key := range keys {
			delete(out, key)
		}
		return out
	}
	tests := map[string]struct {
		reason string
		claim  *corev1.ObjectReference
		retain bool
		has    map[string]string
		want   ceph.MetadataChange
	}{
		"Complete":    {reason: "nothing to do", claim: claim, has: all},
		"None":        {reason: "all at once", claim: claim, has: nil, want: ceph.MetadataChange{Set: all}},
		"NoTag":       {reason: "made without --clustername", claim: claim, has: without(ceph.TagCluster), want: ceph.MetadataChange{Set: map[string]string{ceph.TagCluster: infraID}}},
		"NoNames":     {reason: "made without --extra-create-metadata", claim: claim, has: map[string]string{ceph.TagCluster: infraID}, want: ceph.MetadataChange{Set: without(ceph.TagCluster)}},
		"NoClaim":     {reason: "nobody claims it", has: nil, want: ceph.MetadataChange{Set: without(ceph.TagPVC, ceph.TagPVCNamespace)}},
		"NoNamespace": {reason: "half a name", claim: claim, has: without(ceph.TagPVCNamespace), want: ceph.MetadataChange{Set: map[string]string{ceph.TagPVCNamespace: "shop"}}},
		"OtherClaim": {reason: "it was made for another claim", claim: claim,
			has: map[string]string{ceph.TagCluster: infraID, ceph.TagPV: "pvc-1", ceph.TagPVC: "old"}},
		"OtherVolume": {reason: "it was made as another PersistentVolume", claim: claim, has: map[string]string{ceph.TagCluster: infraID, ceph.TagPV: "pvc-old"}},
		"Retain":      {reason: "it is to stay", claim: claim, retain: true, has: all, want: ceph.MetadataChange{Set: map[string]string{ceph.TagRetain: "true"}}},
		"Retained":    {reason: "it is marked", claim: claim, retain: true, has: own(1, ceph.TagRetain, "true")},
		"WrongMark":   {reason: "teardown would not know it", claim: claim, retain: true, has: own(1, ceph.TagRetain, "yes"), want: ceph.MetadataChange{Set: map[string]string{ceph.TagRetain: "true"}}},
		"Released":    {reason: "it may go", claim: claim, has: own(1, ceph.TagRetain, "true"), want: ceph.MetadataChange{Remove: []string{ceph.TagRetain}}},
		"Foreign":     {reason: "another cluster's", claim: claim, retain: true, has: map[string]string{ceph.TagCluster: "other", ceph.TagRetain: "x"}},
		"Restored":    {reason: "a snapshot's names stay", has: map[string]string{ceph.TagSnapshot: "s"}, want: ceph.MetadataChange{Set: without(ceph.TagPVC, ceph.TagPVCNamespace)}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"}}
			pv.Spec.ClaimRef = tc.claim
			got := volume{pv}.decide(infraID, tc.retain, tc.has)
			if len(got.Set) == 0 {
				got.Set = nil
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCompleteAgrees: what complete accepts, decide leaves alone.
func TestCompleteAgrees(t *testing.T) {
	for _, policy := range []corev1.PersistentVolumeReclaimPolicy{corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeReclaimDelete} {
		for _, phase := range []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound} {
			for _, mark := range []string{"", "true", "x"} {
				pv := &corev1.PersistentVolume{
					ObjectMeta: metav1.ObjectMeta{Name: "pvc-1"},
					Spec:       corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: policy},
					Status:     corev1.PersistentVolumeStatus{Phase: phase},
				}
				if phase == corev1.VolumeBound {
					pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "data"}
				}
				has := own(1)
				if mark != "" {
					has[ceph.TagRetain] = mark
				}
				for _, missing := range []string{"", ceph.TagCluster, ceph.TagPV, ceph.TagPVC, ceph.TagPVCNamespace} {
					delete(has, missing)
					of := volume{pv}
					change := of.decide(infraID, of.retained(), has)
					if of.complete(infraID, has) && !change.Empty() {
						t.Errorf("%s, %s, %v is complete, but lacks %+v", policy, phase, has, change)
					}
				}
			}
		}
	}
}

func TestLaterClaim(t *testing.T) {
	each(t, func(t *testing.T, f fixture, r *rig) {
		f.add(r, 1)
		pv := provisioned(f.driver, 1, 1)
		pv.Spec.ClaimRef, pv.Status.Phase = nil, corev1.VolumeAvailable
		r.add(t, pv)
		r.later(t, 0)
		f.expect(t, r, 1, map[string]string{ceph.TagCluster: infraID, ceph.TagPV: "pvc-1"})
		r.change(t, "pvc-1", func(pv *corev1.PersistentVolume) {
			pv.Spec.ClaimRef, pv.Status.Phase = &corev1.ObjectReference{Namespace: "shop", Name: "data"}, corev1.VolumeBound
		})
		r.news()
		r.later(t, 0)
		f.expect(t, r, 1, own(1))
	})
}
