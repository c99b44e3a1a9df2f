package virtualization

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// trimImage keeps, of a VirtualMachineImage, its name and its StorageClasses.
func trimImage(object any) (any, error) {
	image, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(image.GroupVersionKind())
	out.SetNamespace(image.GetNamespace())
	out.SetName(image.GetName())
	out.SetUID(image.GetUID())
	out.SetResourceVersion(image.GetResourceVersion())
	for _, path := range imageClasses {
		if value, there, _ := unstructured.NestedString(image.Object, path...); there {
			if err := unstructured.SetNestedField(out.Object, value, path...); err != nil {
				return nil, fmt.Errorf("trimming VirtualMachineImage %s: %w", image.GetName(), err)
			}
		}
	}
	return out, nil
}

// imageClasses is where a VirtualMachineImage names StorageClasses.
var imageClasses = [][]string{
	{"metadata", "annotations", "harvesterhci.io/storageClassName"},
	{"spec", "targetStorageClassName"}, {"status", "targetStorageClassName"}, {"status", "storageClassName"},
}

// ImagesOn are Harvester's disk images that use a StorageClass, as namespace/name, sorted.
func (w *Watches) ImagesOn(class string) []string { return using(w.list(machineImages), class) }

// InUse says whether disk images use a StorageClass.
func (w *Watches) InUse(class string) bool { return len(w.ImagesOn(class)) > 0 }

// LookForImages reads once, where no operator runs, Harvester's disk images that use a
// StorageClass, as ImagesOn; none without Harvester.
func LookForImages(ctx context.Context, client dynamic.Interface, class string) ([]string, error) {
	all, err := listAll(ctx, client, machineImages.WithVersion("v1beta1"))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return using(all, class), err
}

func using(images []*unstructured.Unstructured, class string) []string {
	var out []string
	for _, image := range images {
		uses := slices.ContainsFunc(imageClasses, func(path []string) bool {
			name, _, _ := unstructured.NestedString(image.Object, path...)
			return name == class
		})
		if uses {
			out = append(out, image.GetNamespace()+"/"+image.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// reasonOf tells what an administrator of the platform forbids from what may pass by itself.
func reasonOf(err error) string {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Code/100 != 4 {
		return condition.SyncError
	}
	// As in: admission webhook "x" denied the request, ValidatingAdmissionPolicy 'x' … denied request
	if text := err.Error(); strings.Contains(text, "denied the request") || strings.Contains(text, "denied request") {
		return condition.AdmissionRefused
	}
	return condition.SyncError
}
