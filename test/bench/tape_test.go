package main

import (
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestTape goes on after the API server has ended a watch.
func TestTape(t *testing.T) {
	kinds := map[schema.GroupVersionResource]string{
		clusterCSIDrivers: "ClusterCSIDriverList", deployments: "DeploymentList", daemonSets: "DaemonSetList",
		secrets: "SecretList", storageClasses: "StorageClassList", snapshotClasses: "VolumeSnapshotClassList",
	}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)
	client.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"kind": kinds[action.GetResource()], "apiVersion": "v1"}}
		list.SetResourceVersion("7")
		return true, list, nil
	})
	var watches atomic.Int32
	client.PrependWatchReactor("storageclasses", func(clienttesting.Action) (bool, watch.Interface, error) {
		w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
		name := map[int32]string{1: "first", 2: "second"}[watches.Add(1)]
		w.Add(&unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "resourceVersion": "8"}}})
		if name == "first" {
			w.Stop()
		}
		return true, w, nil
	})
	begin := time.Now()
	tape, err := record(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if _, err := tape.first(t.Context(), begin, name, named(storageClasses, name)); err != nil {
			t.Error(err)
		}
	}
}
