package classes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/yaml"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	snapshotClassKind      = "VolumeSnapshotClass"
	groupSnapshotClassKind = "VolumeGroupSnapshotClass"
	// defaultSuffix ends the annotation by which a class of either kind is the default.
	defaultSuffix = "snapshot.storage.kubernetes.io/is-default-class"
)

// snapshotClass is one asset, and what it takes to keep it.
type snapshotClass struct {
	asset      *unstructured.Unstructured
	resource   schema.GroupResource
	parameters func(driver.Driver, ceph.Placement) map[string]string
}

// readSnapshotClass parses an asset; only the two kinds of snapshot classes are known.
func readSnapshotClass(manifest []byte) (snapshotClass, error) {
	asset := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict(manifest, &asset.Object); err != nil {
		return snapshotClass{}, fmt.Errorf("parsing a snapshot class: %w", err)
	}
	class := snapshotClass{asset: asset}
	switch asset.GetKind() {
	case snapshotClassKind:
		class.parameters = snapshotParameters
	case groupSnapshotClassKind:
		class.parameters = groupSnapshotParameters
	default:
		return snapshotClass{}, fmt.Errorf("%s %q is no snapshot class", asset.GetKind(), asset.GetName())
	}
	class.resource = schema.GroupResource{
		Group:    asset.GroupVersionKind().Group,
		Resource: strings.ToLower(asset.GetKind()) + "es",
	}
	return class, nil
}

// newest picks of the versions that the API server serves the one to use; the classes look
// the same in all of them.
func newest(served []string) string {
	return slices.MaxFunc(served, version.CompareKubeAwareVersionStrings)
}

// wanted is the class as it is to be, in the given API version.
func (s snapshotClass) wanted(d driver.Driver, place ceph.Placement, apiVersion string) *unstructured.Unstructured {
	out := s.asset.DeepCopy()
	out.SetAPIVersion(schema.GroupVersion{Group: s.resource.Group, Version: apiVersion}.String())
	out.SetName(d.SnapshotClass)
	out.SetLabels(with(out.GetLabels(), map[string]string{driver.ManagedByLabel: d.OperatorName()}))
	parameters, _, _ := unstructured.NestedStringMap(out.Object, "parameters")
	_ = unstructured.SetNestedStringMap(out.Object, with(parameters, s.parameters(d, place)), "parameters")
	out.Object["driver"] = d.Name
	return out
}

// merged is existing with the fields that are ours; labels and annotations are the user's, who
// may have chosen another default. changed is false when there is nothing to write.
func merged(existing, wanted *unstructured.Unstructured) (out *unstructured.Unstructured, changed bool) {
	out = existing.DeepCopy()
	for _, field := range []string{"driver", "deletionPolicy", "parameters"} {
		out.Object[field] = wanted.Object[field]
	}
	return out, !equality.Semantic.DeepEqual(existing.Object, out.Object)
}

// withoutSecondDefault is wanted, but not as default where another class of the driver is one.
func withoutSecondDefault(wanted *unstructured.Unstructured, others []*unstructured.Unstructured) *unstructured.Unstructured {
	isDefault := func(class *unstructured.Unstructured) bool {
		for key, value := range class.GetAnnotations() {
			if strings.HasSuffix(key, defaultSuffix) && value == "true" {
				return true
			}
		}
		return false
	}
	taken := slices.ContainsFunc(others, func(other *unstructured.Unstructured) bool {
		return other.GetName() != wanted.GetName() && other.Object["driver"] == wanted.Object["driver"] && isDefault(other)
	})
	if !taken {
		return wanted
	}
	out := wanted.DeepCopy()
	annotations := out.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, value string) bool { return strings.HasSuffix(key, defaultSuffix) && value == "true" })
	out.SetAnnotations(annotations)
	return out
}

// recreated is class without what the API server gave the old one.
func recreated(class *unstructured.Unstructured) *unstructured.Unstructured {
	out := class.DeepCopy()
	metadata := map[string]any{"name": class.GetName()}
	for _, kept := range []string{"labels", "annotations"} {
		if value, found, _ := unstructured.NestedFieldCopy(class.Object, "metadata", kept); found {
			metadata[kept] = value
		}
	}
	out.Object["metadata"] = metadata
	return out
}

func foreignSnapshotClass(existing *unstructured.Unstructured, d driver.Driver) bool {
	return existing.Object["driver"] != d.Name || !d.Owns(existing)
}
