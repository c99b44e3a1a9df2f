package operator

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// pageSize bounds what one answer to a look brings: there may be thousands of volumes.
const pageSize = 500

// reader takes one look.
type reader struct {
	starter
	config []ceph.ConfigEntry
	look   proof.Look
}

// page is one answer to a list.
type page struct {
	metav1.ListInterface
	usage usage.Usage
}

// all lists page by page. Without a resourceVersion, etcd's quorum answers, and no cache.
func (r *reader) all(ctx context.Context, name string, list func(ctx context.Context, o metav1.ListOptions) (page, error)) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := list(ctx, options)
		if err != nil {
			return fmt.Errorf("listing %s: %w", name, err)
		}
		r.look.Usage = append(r.look.Usage, got.usage)
		if options.Continue = got.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (r *reader) classes(ctx context.Context) error {
	return r.all(ctx, classesName, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.clients.kube.StorageV1().StorageClasses().List(ctx, o)
		if err != nil {
			return page{}, err
		}
		return page{list, usage.Of(r.driver, r.config, pointers(list.Items), nil)}, nil
	})
}

func (r *reader) volumes(ctx context.Context) error {
	return r.all(ctx, volumesName, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.clients.kube.CoreV1().PersistentVolumes().List(ctx, o)
		if err != nil {
			return page{}, err
		}
		r.look.Volumes += len(list.Items)
		return page{list, usage.Of(r.driver, r.config, nil, pointers(list.Items))}, nil
	})
}

func (r *reader) contents(ctx context.Context) error {
	return r.all(ctx, snapshotsName, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.clients.dynamic.Resource(ctrl.SnapshotContents).List(ctx, o)
		if err != nil {
			return page{}, err
		}
		var snapshots []usage.Snapshot
		for i := range list.Items {
			item := &list.Items[i]
			snapshots = append(snapshots, usage.Snapshot{Driver: textOf(item, "spec", "driver"), Handle: handleOf(item)})
		}
		return page{list, usage.Of(r.driver, r.config, nil, nil, snapshots...)}, nil
	})
}

func pointers[T any](items []T) []*T {
	out := make([]*T, 0, len(items))
	for i := range items {
		out = append(out, &items[i])
	}
	return out
}

// served fails unless the CRD of snapshots is there to stay: what an absent one says of snapshots is
// nothing.
func (r *reader) served(ctx context.Context) error {
	crd, err := r.snapshotsCRD(ctx)
	if err != nil {
		return err
	}
	if crd == nil {
		return fmt.Errorf("CustomResourceDefinition %s does not exist, so that snapshots cannot be seen", ctrl.SnapshotContents.GroupResource())
	}
	return established(crd)
}

// conditionOf is the status of a condition.
func conditionOf(object *unstructured.Unstructured, conditionType string) string {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == conditionType {
			text, _ := fields["status"].(string)
			return text
		}
	}
	return ""
}
