package uninstall

import (
	"context"
	"fmt"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// shown is how many names an error lists.
const shown = 5

// blockers are what of the drivers exists on the cluster.
type blockers struct {
	// csoKnowsCeph: a cluster-storage-operator would put everything back.
	csoKnowsCeph bool
	// attachments are in use by pods at this moment.
	attachments []string
	// detaching are no longer, and stay until the driver has said so, which it may be too late for.
	detaching []string
	// volumes and snapshots, also of groups, could be neither mounted nor deleted any more.
	volumes, snapshots []string
}

// volumed says that users of the drivers are needed: by volumes, and by snapshots that become some.
func (b blockers) volumed() bool { return len(b.volumes)+len(b.snapshots) > 0 }

// refusal is nil when nothing stands in the way:
//
//	a CSO that knows Ceph                   always
//	VolumeAttachments                       always: pods lose their disks
//	those that are being deleted            unless forced: the driver may have gone
//	PersistentVolumes, snapshots            unless forced
func (b blockers) refusal(force bool) error {
	switch {
	case b.csoKnowsCeph:
		return fmt.Errorf("%w: this cluster's cluster-storage-operator knows Ceph and would install it again", ErrRefused)
	case len(b.attachments) > 0:
		return fmt.Errorf("%w: volumes are attached to nodes (%s); delete the pods that use them first", ErrRefused, some(b.attachments))
	case len(b.detaching) > 0 && !force:
		return fmt.Errorf("%w: volumes are being detached (%s), which the driver's controller pods end; where none are left, use --force, "+
			"and afterwards, for each: kubectl patch volumeattachment NAME --type=merge -p '{\"metadata\":{\"finalizers\":null}}'", ErrRefused, some(b.detaching))
	case len(b.volumes) > 0 && !force:
		return fmt.Errorf("%w: PersistentVolumes of the drivers exist (%s) and could no longer be mounted or deleted; delete them first, or use --force", ErrRefused, some(b.volumes))
	case len(b.snapshots) > 0 && !force:
		return fmt.Errorf("%w: snapshots of the drivers exist (%s) and could no longer be deleted; delete them first, or use --force", ErrRefused, some(b.snapshots))
	}
	return nil
}

// attachment is the volume and the node of one.
func attachment(a storagev1.VolumeAttachment) string {
	if volume := a.Spec.Source.PersistentVolumeName; volume != nil {
		return *volume + " to " + a.Spec.NodeName
	}
	return "VolumeAttachment " + a.Name // It has the volume inline: no driver of ours makes such.
}

func some(names []string) string {
	return condition.Names(slices.Sorted(slices.Values(names)), shown)
}

// look finds what stands in the way.
func look(ctx context.Context, o Options) (blockers, error) {
	var b blockers
	var err error
	if b.csoKnowsCeph, err = clusterstorage.CSOKnowsCeph(ctx, o.Kube); err != nil {
		return b, err
	}
	attachments, err := o.Kube.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	if err != nil {
		return b, fmt.Errorf("listing VolumeAttachments: %w", err)
	}
	for _, a := range attachments.Items {
		switch {
		case !ours(a.Spec.Attacher):
		case a.DeletionTimestamp != nil:
			b.detaching = append(b.detaching, a.Name+" of "+attachment(a))
		default:
			b.attachments = append(b.attachments, attachment(a))
		}
	}
	volumes, err := o.Kube.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return b, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	for _, v := range volumes.Items {
		if v.Spec.CSI != nil && ours(v.Spec.CSI.Driver) {
			b.volumes = append(b.volumes, v.Name)
		}
	}
	for _, kind := range []schema.GroupResource{ctrl.SnapshotContents.GroupResource(), ctrl.GroupSnapshotContents} {
		snapshots, err := snapshotsOf(ctx, o, kind)
		if err != nil {
			return b, err
		}
		b.snapshots = append(b.snapshots, snapshots...)
	}
	return b, nil
}

// snapshotsOf are kinds and names of the drivers' objects of a kind.
func snapshotsOf(ctx context.Context, o Options, kind schema.GroupResource) ([]string, error) {
	crd, err := ctrl.LiveCRD(ctx, o.Dynamic, kind)
	if err != nil || crd == nil {
		return nil, err
	}
	version, err := ctrl.ServedBy(crd)
	if err != nil {
		return nil, err
	}
	list, err := o.Dynamic.Resource(kind.WithVersion(version)).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind, err)
	}
	var out []string
	for _, c := range list.Items {
		if name, _, _ := unstructured.NestedString(c.Object, "spec", "driver"); ours(name) {
			out = append(out, c.GetKind()+" "+c.GetName())
		}
	}
	return out, nil
}

func ours(name string) bool {
	return slices.ContainsFunc(driver.All, func(d driver.Driver) bool { return d.Name == name })
}
