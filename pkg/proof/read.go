package proof

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// pageSize bounds what one answer to a look brings: there may be thousands of volumes.
const pageSize = 500

// What a look lists.
const (
	Volumes   = "PersistentVolumes"
	Classes   = "StorageClasses"
	Snapshots = "VolumeSnapshotContents"
)

// Reader reads everything that says what is used, past all caches.
type Reader struct {
	Driver  driver.Driver
	Kube    kubernetes.Interface
	Dynamic dynamic.Interface
	// Config reads what the driver's pods know of clusterIDs.
	Config func() ([]ceph.ConfigEntry, error)
}

// Read takes one look. It asks for the CRD of snapshots twice: their list may be that of one which is going.
func (r Reader) Read(ctx context.Context) (Look, error) {
	config, err := r.Config()
	if err != nil {
		return Look{}, err
	}
	one := reading{Reader: r, config: config}
	for _, step := range []func(context.Context) error{one.served, one.classes, one.volumes, one.contents, one.served} {
		if err := step(ctx); err != nil {
			return Look{}, err
		}
	}
	return one.look, nil
}

// reading is one look under way.
type reading struct {
	Reader
	config []ceph.ConfigEntry
	look   Look
}

// page is one answer to a list.
type page struct {
	metav1.ListInterface
	usage usage.Usage
}

// all notes what each page of a list says.
func (r *reading) all(ctx context.Context, name string, list func(ctx context.Context, o metav1.ListOptions) (page, error)) error {
	return EachPage(ctx, name, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) {
		got, err := list(ctx, o)
		if err == nil {
			r.look.Usage = append(r.look.Usage, got.usage)
		}
		return got, err
	})
}

// EachPage lists page by page. Without a resourceVersion, etcd's quorum answers, and no cache. The error names what was
// listed.
func EachPage(ctx context.Context, name string, list func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error)) error {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		got, err := list(ctx, options)
		if err != nil {
			return fmt.Errorf("listing %s: %w", name, err)
		}
		if options.Continue = got.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (r *reading) classes(ctx context.Context) error {
	return r.all(ctx, Classes, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.Kube.StorageV1().StorageClasses().List(ctx, o)
		if err != nil {
			return page{}, err
		}
		return page{list, usage.Of(r.Driver, r.config, pointers(list.Items), nil)}, nil
	})
}

func (r *reading) volumes(ctx context.Context) error {
	return r.all(ctx, Volumes, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.Kube.CoreV1().PersistentVolumes().List(ctx, o)
		if err != nil {
			return page{}, err
		}
		r.look.Volumes += len(list.Items)
		return page{list, usage.Of(r.Driver, r.config, nil, pointers(list.Items))}, nil
	})
}

func (r *reading) contents(ctx context.Context) error {
	return r.all(ctx, Snapshots, func(ctx context.Context, o metav1.ListOptions) (page, error) {
		list, err := r.Dynamic.Resource(ctrl.SnapshotContents).List(ctx, o)
		if err != nil {
			return page{}, err
		}
		var snapshots []usage.Snapshot
		for i := range list.Items {
			item := &list.Items[i]
			snapshots = append(snapshots, usage.SnapshotOf(item))
		}
		return page{list, usage.Of(r.Driver, r.config, nil, nil, snapshots...)}, nil
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
func (r *reading) served(ctx context.Context) error {
	crd, err := ctrl.LiveCRD(ctx, r.Dynamic, ctrl.SnapshotContents.GroupResource())
	if err != nil {
		return err
	}
	if crd == nil {
		return fmt.Errorf("CustomResourceDefinition %s does not exist, so that snapshots cannot be seen", ctrl.SnapshotContents.GroupResource())
	}
	return ctrl.Established(crd)
}
