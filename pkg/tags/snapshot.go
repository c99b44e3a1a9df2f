package tags

import (
	"context"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// Contents are the driver's VolumeSnapshotContents, as the API server serves them.
type Contents interface {
	factory.Informer
	// Taken are those with a handle; nobody may change them. known is false until all are
	// there. An error says why they cannot be read, or no longer.
	Taken() (all []*usage.Content, known bool, err error)
}

// snapshot is the subject of a VolumeSnapshotContent.
type snapshot struct{ *usage.Content }

func (s snapshot) about() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshotContent", Name: s.Name, UID: s.UID}
}

func (s snapshot) variable() []string {
	if s.Retain {
		return []string{s.Handle, ceph.RetainMark}
	}
	return []string{s.Handle}
}

func (s snapshot) place() driver.Volume { return driver.Volume{Handle: s.Handle, Snapshot: true} }

func (s snapshot) leaving() bool { return s.Deleted }

func (s snapshot) complete(infraID string, values map[string]string) bool {
	return values[ceph.TagCluster] == infraID && s.decide(infraID, values).Empty()
}

func (s snapshot) change(_ context.Context, c *Controller, infraID string, values map[string]string) (ceph.MetadataChange, error) {
	return c.own(s.decide(infraID, values), infraID, values), nil
}

// decide is what the tags of a snapshot lack, as for a volume. What an image inherited from the
// volume goes, as ceph-csi removes it: it would pass for a volume's.
func (s snapshot) decide(infraID string, values map[string]string) ceph.MetadataChange {
	if !fits(ceph.Owner(values), infraID) {
		return ceph.MetadataChange{}
	}
	change := ceph.MetadataChange{Set: map[string]string{}}
	lack(&change, values, ceph.TagCluster, infraID)
	lack(&change, values, ceph.TagSnapshotContent, s.Name)
	if fits(values[ceph.TagSnapshotContent], s.Name) && fits(values[ceph.TagSnapshot], s.VolumeSnapshot) && fits(values[ceph.TagSnapshotNamespace], s.Namespace) {
		lack(&change, values, ceph.TagSnapshot, s.VolumeSnapshot)
		lack(&change, values, ceph.TagSnapshotNamespace, s.Namespace)
	}
	for _, key := range []string{ceph.TagPV, ceph.TagPVC, ceph.TagPVCNamespace} {
		if _, inherited := values[key]; inherited {
			change.Remove = append(change.Remove, key)
		}
	}
	mark(&change, values, s.Retain, s.Handle)
	return change
}
