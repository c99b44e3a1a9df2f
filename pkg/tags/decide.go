package tags

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// owner is the cluster whose tag a volume has; empty where it has none.
func owner(values map[string]string) string { return values[ceph.TagCluster] }

// complete says that nothing of the tags depends on what the informer does not keep, and that
// what it keeps asks for no change.
func complete(infraID string, volume *corev1.PersistentVolume, values map[string]string) bool {
	claimed := volume.Status.Phase == corev1.VolumeBound || volume.Status.Phase == corev1.VolumeReleased
	named := values[ceph.TagPVC] != "" && values[ceph.TagPVCNamespace] != ""
	_, mark := values[ceph.TagRetain]
	return owner(values) == infraID && values[ceph.TagPV] != "" && (named || !claimed) &&
		mark == retained(volume) && mark == marked(values)
}

func retained(volume *corev1.PersistentVolume) bool {
	return volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain
}

func marked(values map[string]string) bool { return values[ceph.TagRetain] == ceph.RetainMark }

// decide is what the tags of a volume lack. What is there stays as it is, but for the mark:
//
//	tag of the cluster   ours   none   another's
//	tag                  -      set    -
//	names of PV, PVC     those that are missing, unless they would mix with another's
//	mark, PV is Retain   set    set    -
//	mark, PV is not      remove remove -
//
// retain says whether the volume is to outlive the cluster.
func decide(infraID string, volume *corev1.PersistentVolume, retain bool, values map[string]string) ceph.MetadataChange {
	if other := owner(values); other != "" && other != infraID {
		return ceph.MetadataChange{}
	}
	change := ceph.MetadataChange{Set: map[string]string{}}
	lacks := func(key, value string) {
		if values[key] == "" && value != "" {
			change.Set[key] = value
		}
	}
	lacks(ceph.TagCluster, infraID)
	lacks(ceph.TagPV, volume.Name)
	if claim := volume.Spec.ClaimRef; claim != nil && fits(values[ceph.TagPV], volume.Name) &&
		fits(values[ceph.TagPVC], claim.Name) && fits(values[ceph.TagPVCNamespace], claim.Namespace) {
		lacks(ceph.TagPVC, claim.Name)
		lacks(ceph.TagPVCNamespace, claim.Namespace)
	}
	_, mark := values[ceph.TagRetain]
	switch {
	case retain && !marked(values):
		change.Set[ceph.TagRetain] = ceph.RetainMark
	case !retain && mark:
		change.Remove = []string{ceph.TagRetain}
	}
	return change
}

func fits(has, value string) bool { return has == "" || has == value }

// leaving says that a PersistentVolume is being deleted, or its volume: nobody needs to find
// that any more.
func leaving(volume *corev1.PersistentVolume) bool {
	if volume.DeletionTimestamp != nil {
		return true
	}
	let := volume.Status.Phase == corev1.VolumeReleased || volume.Status.Phase == corev1.VolumeFailed
	return let && volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}
