package operator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// content is what is kept of a VolumeSnapshotContent: there may be thousands.
type content struct {
	metav1.ObjectMeta
	tags.Snapshot
	// others is the snapshot where another driver like this one serves it.
	others usage.Snapshot
}

// trim keeps what matters of the driver's snapshots, the handles of others like them, and of the rest
// that they are there.
func (s *snapshots) trim(object any) (any, error) {
	whole, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	out := &content{ObjectMeta: metav1.ObjectMeta{Name: whole.GetName(), UID: whole.GetUID(), ResourceVersion: whole.GetResourceVersion()}}
	name := textOf(whole, "spec", "driver")
	if s.driver.Kin(name) {
		out.others = usage.Snapshot{Driver: name, Handle: handleOf(whole)}
	}
	if name != s.driver.Name {
		return out, nil
	}
	out.Snapshot = tags.Snapshot{
		Name: out.ObjectMeta.Name, UID: out.ObjectMeta.UID, Handle: handleOf(whole),
		Namespace:      textOf(whole, "spec", "volumeSnapshotRef", "namespace"),
		VolumeSnapshot: textOf(whole, "spec", "volumeSnapshotRef", "name"),
		Retain:         textOf(whole, "spec", "deletionPolicy") == "Retain",
		Deleted:        whole.GetDeletionTimestamp() != nil,
	}
	return out, nil
}

// handleOf a snapshot; empty until it was made.
func handleOf(content *unstructured.Unstructured) string {
	if handle := textOf(content, "status", "snapshotHandle"); handle != "" {
		return handle
	}
	return textOf(content, "spec", "source", "snapshotHandle")
}

func textOf(object *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(object.Object, path...)
	return text
}
