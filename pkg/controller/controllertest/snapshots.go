// Package controllertest has API servers in memory for tests of what is read past all caches, and informers that have yet to read.
package controllertest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

// SnapshotCRD is that of VolumeSnapshotContents, and has conditions, given as types and statuses.
func SnapshotCRD(conditions ...string) *unstructured.Unstructured {
	var list []any
	for i := 0; i < len(conditions); i += 2 {
		list = append(list, map[string]any{"type": conditions[i], "status": conditions[i+1]})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": ctrl.SnapshotContents.GroupResource().String()},
		"status":   map[string]any{"conditions": list},
	}}
}

// Clients read what they were given, and know the kinds of snapshots.
func Clients(objects ...runtime.Object) (*fake.Clientset, *dynamicfake.FakeDynamicClient) {
	return fake.NewClientset(), dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		ctrl.CRDs: "CustomResourceDefinitionList", ctrl.SnapshotContents: "VolumeSnapshotContentList",
	}, objects...)
}
