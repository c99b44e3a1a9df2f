// Package controllertest has API servers in memory for tests of what is read past all caches, and informers that have yet to read.
package controllertest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// SnapshotCRD is that of VolumeSnapshotContents, and has conditions, given as types and statuses.
func SnapshotCRD(conditions ...string) *unstructured.Unstructured {
	return CRD(ctrl.SnapshotContents, conditions...)
}

// CRD serves a kind at one version.
func CRD(kind schema.GroupVersionResource, conditions ...string) *unstructured.Unstructured {
	var list []any
	for i := 0; i < len(conditions); i += 2 {
		list = append(list, map[string]any{"type": conditions[i], "status": conditions[i+1]})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": kind.GroupResource().String()},
		"spec":     map[string]any{"versions": []any{map[string]any{"name": "former", "served": false}, map[string]any{"name": kind.Version, "served": true}}},
		"status":   map[string]any{"conditions": list},
	}}
}

// GroupSnapshots are the contents of group snapshots as one release of external-snapshotter has them.
var GroupSnapshots = ctrl.GroupSnapshotContents.WithVersion("v1beta1")

// Clients read what they were given, and know the kinds of snapshots.
func Clients(objects ...runtime.Object) (*fake.Clientset, *dynamicfake.FakeDynamicClient) {
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		ctrl.CRDs: "CustomResourceDefinitionList", ctrl.SnapshotContents: "VolumeSnapshotContentList", GroupSnapshots: "VolumeGroupSnapshotContentList",
	}, objects...)
	client.PrependReactor("list", ctrl.CRDs.Resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinitionList"}}
		name, chosen := a.(clienttesting.ListAction).GetListRestrictions().Fields.RequiresExactMatch("metadata.name")
		if !chosen {
			return false, nil, nil // The fake itself knows no selectors of fields.
		}
		if crd, err := client.Tracker().Get(ctrl.CRDs, "", name); err == nil {
			list.Items = append(list.Items, *crd.(*unstructured.Unstructured))
		}
		return true, list, nil
	})
	return fake.NewClientset(), client
}
