package removal

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// Holders looks for what only the driver can detach or delete.
type Holders struct {
	ctrl.Env
	// Snapshots counts the VolumeSnapshotContents of the driver in the cache; where they are not known, they
	// are looked for past it.
	Snapshots func() int
}

// Declared says whether a person wants the driver off the cluster.
func (h Holders) Declared() (bool, error) { return h.RemovalDeclared() }

// Deployed says whether there is a workload of ours.
func (h Holders) Deployed() (bool, error) {
	_, err := h.Deployments.Lister().Deployments(driver.Namespace).Get(h.Driver.ControllerName())
	if there, err := ctrl.Found(err, "Deployment", h.Driver.ControllerName()); there || err != nil {
		return there, err
	}
	_, err = h.DaemonSets.Lister().DaemonSets(driver.Namespace).Get(h.Driver.NodeName())
	return ctrl.Found(err, "DaemonSet", h.Driver.NodeName())
}

// Cached counts what of the driver is in the caches.
func (h Holders) Cached() (Held, error) {
	held := Held{Snapshots: h.Snapshots()}
	volumes, err := h.PersistentVolumes.Lister().List(labels.Everything())
	if err != nil {
		return held, fmt.Errorf("listing PersistentVolumes: %w", err)
	}
	for _, v := range volumes {
		if h.Driver.Serves(v) {
			held.Volumes++
		}
	}
	return held, nil
}

// Look counts, past all caches, what only the driver can detach or delete.
func (h Holders) Look(ctx context.Context) (Held, error) {
	var held Held
	var err error
	for _, of := range []struct {
		kind  schema.GroupResource
		count *int
	}{{ctrl.SnapshotContents.GroupResource(), &held.Snapshots}, {ctrl.GroupSnapshotContents, &held.GroupSnapshots}} {
		if *of.count, err = h.snapshots(ctx, of.kind); err != nil {
			return held, err
		}
	}
	if held.Volumes, err = h.volumes(ctx); err != nil {
		return held, err
	}
	held.Attachments, err = h.Attachments(ctx)
	return held, err
}

// snapshots counts the objects of a kind. It asks for their CRD before and after: their list may be that of one which
// comes or goes.
func (h Holders) snapshots(ctx context.Context, kind schema.GroupResource) (int, error) {
	count := 0
	before, err := h.defined(ctx, kind)
	if err != nil {
		return 0, err
	}
	if before != "" {
		if count, err = h.contents(ctx, kind.WithVersion(before)); err != nil {
			return 0, err
		}
	}
	after, err := h.defined(ctx, kind)
	if err != nil {
		return 0, err
	}
	if (before == "") != (after == "") {
		return 0, fmt.Errorf("CustomResourceDefinition %s has just come or gone, so that snapshots cannot be seen", kind)
	}
	return count, nil
}

func (h Holders) volumes(ctx context.Context) (int, error) {
	count := 0
	err := proof.EachPage(ctx, proof.Volumes, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := h.Kube.CoreV1().PersistentVolumes().List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if h.Driver.Serves(&list.Items[i]) {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

// Attachments counts the VolumeAttachments of the driver, past all caches.
func (h Holders) Attachments(ctx context.Context) (int, error) {
	count := 0
	err := proof.EachPage(ctx, "VolumeAttachments", func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := h.Kube.StorageV1().VolumeAttachments().List(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, a := range list.Items {
			if a.Spec.Attacher == h.Driver.Name {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

func (h Holders) contents(ctx context.Context, kind schema.GroupVersionResource) (int, error) {
	count := 0
	err := proof.EachPage(ctx, kind.Resource, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		list, err := h.Dynamic.Resource(kind).List(ctx, o)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if usage.SnapshotOf(&list.Items[i]).Driver == h.Driver.Name {
				count++
			}
		}
		return list, nil
	})
	return count, err
}

// defined is a version at which a CRD serves its objects; empty where there is none. While it comes or goes, that is not
// known.
func (h Holders) defined(ctx context.Context, kind schema.GroupResource) (string, error) {
	crd, err := ctrl.LiveCRD(ctx, h.Dynamic, kind)
	if err != nil || crd == nil {
		return "", err
	}
	if err := ctrl.Established(crd); err != nil {
		return "", err
	}
	return ctrl.ServedBy(crd)
}
