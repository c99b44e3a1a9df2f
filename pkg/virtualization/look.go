package virtualization

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// ProfilesCRD is the CRD by which CDI is known.
var ProfilesCRD = storageProfiles.crd()

// Look reads once, where no operator runs, what virtual machines can do on which of these
// StorageClasses of the driver. CDI must be there.
func Look(ctx context.Context, client dynamic.Interface, d driver.Driver, classes []*storagev1.StorageClass) (Machines, error) {
	facts := machineFacts{driver: d, classes: classes, snapshotting: true}
	var err error
	if facts.profiles, err = listAll(ctx, client, storageProfileVersion); err != nil {
		return nil, err
	}
	if facts.importers, err = listAll(ctx, client, importers.WithVersion("v1beta1")); apierrors.IsNotFound(err) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	all, err := listAll(ctx, client, snapshotClasses.WithVersion("v1"))
	facts.snapshotting = !apierrors.IsNotFound(err)
	if err != nil && facts.snapshotting {
		return nil, err
	}
	for _, class := range all {
		facts.snapshots = append(facts.snapshots, readSnapshotClass(class, d))
	}
	return matrix(facts), nil
}

func listAll(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource) ([]*unstructured.Unstructured, error) {
	list, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource.GroupResource(), err)
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out, nil
}
