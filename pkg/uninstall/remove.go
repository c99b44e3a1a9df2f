package uninstall

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// find returns what of the targets is there and ours.
func find(ctx context.Context, o Options) ([]object, error) {
	all, err := targets(o)
	if err != nil {
		return nil, err
	}
	at, err := servedResources(o.Kube.Discovery())
	if err != nil {
		return nil, err
	}
	var out []object
	for _, t := range all {
		live, err := t.read(ctx, o, at[t.Kind])
		if err != nil {
			return nil, err
		}
		if live == nil {
			continue
		}
		if t.Mine != nil && !t.Mine(live) {
			fmt.Fprintf(o.Out, "Leaves %s alone: it is somebody else's.\n", t)
			continue
		}
		if t.Kind == "StorageClass" {
			kept, err := keptByImages(ctx, o, t.Name)
			if err != nil {
				return nil, err
			}
			if kept {
				continue
			}
		}
		out = append(out, object{t, live, at[t.Kind]})
	}
	return out, nil
}

// read returns the object; nil where it, or its kind, is not there.
func (t target) read(ctx context.Context, o Options, at schema.GroupVersionResource) (*unstructured.Unstructured, error) {
	live, err := o.Dynamic.Resource(at).Namespace(t.Namespace).Get(ctx, t.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", t, err)
	}
	return live, nil
}

// keptByImages says whether the platform would refuse to delete a StorageClass, half way through
// everything; that is refused, too, unless it is forced.
func keptByImages(ctx context.Context, o Options, class string) (bool, error) {
	images, err := virtualization.LookForImages(ctx, o.Dynamic, class)
	if err != nil || len(images) == 0 {
		return false, err
	}
	why := fmt.Sprintf("Harvester lets nobody delete StorageClass %s while the VirtualMachineImages %s use it", class, some(images))
	if !o.Force {
		return false, fmt.Errorf("%w: %s; delete them first, or use --force, which leaves the class", ErrRefused, why)
	}
	fmt.Fprintf(o.Out, "Leaves it: %s.\n", why)
	return true, nil
}

// remove deletes the objects in their order. An object that was replaced since it was listed is
// left alone.
func remove(ctx context.Context, o Options, objects []object) error {
	for _, found := range objects {
		uid, policy := found.live.GetUID(), metav1.DeletePropagationBackground
		err := o.Dynamic.Resource(found.resource).Namespace(found.Namespace).Delete(ctx, found.Name,
			metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: &policy})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s: %w; run the command again", found, err)
		}
		if found.pods == "" {
			continue
		}
		if err := waitEnded(ctx, o.Kube.CoreV1().Pods(driver.Namespace), found.pods); err != nil {
			return fmt.Errorf("pods of %s do not end: %w; then run the command again", found, err)
		}
	}
	return nil
}

// conditionsOf are the types of what we wrote into Storage/cluster.
func conditionsOf(ctx context.Context, o Options) ([]string, error) {
	storage, err := wide("Storage", "cluster").read(ctx, o, resources["Storage"])
	if err != nil || storage == nil {
		return nil, err
	}
	var out []string
	for _, entry := range storage.GetManagedFields() {
		if !clusterstorage.IsOurs(entry.Manager) {
			continue
		}
		held, err := ctrl.AppliedStatus(storage, entry.Manager)
		if err != nil {
			return nil, err
		}
		if held == nil {
			continue
		}
		for _, c := range held.Conditions {
			out = append(out, *c.Type)
		}
	}
	return out, nil
}

// releaseConditions removes them, and the generations of Deployments beside them.
func releaseConditions(ctx context.Context, o Options) error {
	storage, err := wide("Storage", "cluster").read(ctx, o, resources["Storage"])
	if err != nil || storage == nil {
		return err
	}
	return clusterstorage.Release(ctx, o.Dynamic, storage, func(string) bool { return true })
}
