package usage

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Content is what matters of a VolumeSnapshotContent.
type Content struct {
	Name   string
	UID    types.UID
	Handle string
	// Namespace and VolumeSnapshot name the VolumeSnapshot to which it belongs.
	Namespace, VolumeSnapshot string
	// Retain says that its deletionPolicy is Retain, Deleted that it is being deleted.
	Retain, Deleted bool
}

// kept is what is kept of a VolumeSnapshotContent: there may be thousands.
type kept struct {
	metav1.ObjectMeta
	Content
	// others is the snapshot where another driver like this one serves it.
	others Snapshot
}

// trim keeps what matters of the driver's snapshots, the handles of others like them, and of the rest
// that they are there.
func (s *Contents) trim(object any) (any, error) {
	whole, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	out := &kept{ObjectMeta: metav1.ObjectMeta{Name: whole.GetName(), UID: whole.GetUID(), ResourceVersion: whole.GetResourceVersion()}}
	is := SnapshotOf(whole)
	if s.driver.Kin(is.Driver) {
		out.others = is
	}
	if is.Driver != s.driver.Name {
		return out, nil
	}
	out.Content = Content{
		Name: out.ObjectMeta.Name, UID: out.ObjectMeta.UID, Handle: is.Handle,
		Namespace:      textOf(whole, "spec", "volumeSnapshotRef", "namespace"),
		VolumeSnapshot: textOf(whole, "spec", "volumeSnapshotRef", "name"),
		Retain:         textOf(whole, "spec", "deletionPolicy") == "Retain",
		Deleted:        whole.GetDeletionTimestamp() != nil,
	}
	return out, nil
}

// SnapshotOf is what a VolumeSnapshotContent says of its snapshot, whose handle is empty until it was made.
func SnapshotOf(content *unstructured.Unstructured) Snapshot {
	return Snapshot{
		Driver: textOf(content, "spec", "driver"),
		Handle: cmp.Or(textOf(content, "status", "snapshotHandle"), textOf(content, "spec", "source", "snapshotHandle")),
	}
}

func textOf(object *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(object.Object, path...)
	return text
}
