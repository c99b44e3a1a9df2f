package tags

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// volume is the subject of a PersistentVolume.
type volume struct{ *corev1.PersistentVolume }

func (v volume) about() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolume", Name: v.Name, UID: v.UID}
}

func (v volume) variable() []string {
	return []string{string(v.Status.Phase), string(v.Spec.PersistentVolumeReclaimPolicy)}
}

func (v volume) place() driver.Volume {
	return driver.Volume{Handle: v.Spec.CSI.VolumeHandle, Attributes: v.Spec.CSI.VolumeAttributes}
}

func (v volume) leaving() bool {
	if v.DeletionTimestamp != nil {
		return true
	}
	let := v.Status.Phase == corev1.VolumeReleased || v.Status.Phase == corev1.VolumeFailed
	return let && v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete
}

// complete says that nothing of the tags depends on what the informer does not keep, and that
// what it keeps asks for no change.
func (v volume) complete(infraID string, values map[string]string) bool {
	claimed := v.Status.Phase == corev1.VolumeBound || v.Status.Phase == corev1.VolumeReleased
	named := values[ceph.TagPVC] != "" && values[ceph.TagPVCNamespace] != ""
	_, mark := values[ceph.TagRetain]
	return values[ceph.TagCluster] == infraID && values[ceph.TagPV] != "" && (named || !claimed) &&
		mark == v.retained() && mark == marked(values, v.handle())
}

func (v volume) handle() string {
	if v.Spec.CSI == nil {
		return ""
	}
	return v.Spec.CSI.VolumeHandle
}

func (v volume) retained() bool {
	return v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain
}

// change reads the PersistentVolume anew, with what the informer does not keep.
func (v volume) change(ctx context.Context, c *Controller, infraID string, values map[string]string) (ceph.MetadataChange, error) {
	live, err := c.Kube.CoreV1().PersistentVolumes().Get(ctx, v.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return ceph.MetadataChange{}, fmt.Errorf("reading PersistentVolume %s: %w", v.Name, err)
	}
	now := volume{live}
	if err != nil || live.UID != v.UID || now.leaving() {
		return ceph.MetadataChange{}, nil // The informer will tell of it.
	}
	// Who asks about a volume without a mark is not the one who would set it.
	_, mark := values[ceph.TagRetain]
	return c.own(now.decide(infraID, now.retained() || mark && c.retainedElsewhere(live), values), infraID, values), nil
}

// shown is what the tags of a snapshot lack for a volume that shows it: the mark, and what ceph-csi has taken away when it detached the
// volume. The VolumeSnapshotContent, which has the rest, may be gone.
func (c *Controller) shown(v volume, infraID string, values map[string]string) ceph.MetadataChange {
	change := ceph.MetadataChange{Set: map[string]string{}}
	if another(values, infraID) != "" {
		return change
	}
	if ceph.Owner(values) != "" {
		lack(&change, values, ceph.TagCluster, infraID)
		lack(&change, values, ceph.TagOwner, infraID)
	}
	key := ceph.TagRetainShown(uuidOf(v.handle()))
	_, mark := values[key]
	switch {
	case mark == v.retained():
	case v.retained():
		change.Set[key] = ceph.RetainMark
	case !c.retainedElsewhere(v.PersistentVolume):
		change.Remove = []string{key}
	}
	return change
}

// decide is what the tags of a volume lack. What is there stays as it is, but for the mark:
//
//	tag of the cluster   ours   none   another's
//	tag                  -      set    -
//	names of PV, PVC     those that are missing, unless they would mix with another's
//	mark, PV is Retain   set    set    -
//	mark, PV is not      remove remove -
//
// retain says whether the volume is to outlive the cluster.
func (v volume) decide(infraID string, retain bool, values map[string]string) ceph.MetadataChange {
	if !fits(ceph.Owner(values), infraID) {
		return ceph.MetadataChange{}
	}
	change := ceph.MetadataChange{Set: map[string]string{}}
	lack(&change, values, ceph.TagCluster, infraID)
	lack(&change, values, ceph.TagPV, v.Name)
	if claim := v.Spec.ClaimRef; claim != nil && fits(values[ceph.TagPV], v.Name) &&
		fits(values[ceph.TagPVC], claim.Name) && fits(values[ceph.TagPVCNamespace], claim.Namespace) {
		lack(&change, values, ceph.TagPVC, claim.Name)
		lack(&change, values, ceph.TagPVCNamespace, claim.Namespace)
	}
	mark(&change, values, retain, v.handle())
	return change
}
