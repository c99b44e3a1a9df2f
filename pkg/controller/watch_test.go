package controller

import (
	"context"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestFollow(t *testing.T) {
	resource := schema.GroupVersionResource{Group: "monitoring.coreos.com", Version: "v1", Resource: "servicemonitors"}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{resource: "ServiceMonitorList"})
	served := false
	w := Watch{Client: client, Resource: resource, Namespace: "ns", Name: "ours", Served: func() bool { return served }}
	woken := make(chan struct{}, 10)
	follow := func() bool {
		t.Helper()
		known, err := w.Follow(t.Context(), func() { woken <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	awaitWake := func(reason string) {
		t.Helper()
		select {
		case <-woken:
		case <-time.After(time.Minute):
			t.Fatalf("%s did not wake the controller", reason)
		}
	}

	if follow() || len(client.Actions()) > 0 {
		t.Errorf("without the CRD nothing may be asked: %v", client.Actions())
	}
	served = true
	for _, again := range []bool{false, true} {
		if !follow() {
			t.Errorf("the CRD is there (again: %t)", again)
		}
	}
	awaitWatch(t, client)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
		"metadata": map[string]any{"name": "ours", "namespace": "ns"},
	}}
	monitors := client.Resource(resource).Namespace("ns")
	if _, err := monitors.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitWake("creation")
	if err := monitors.Delete(t.Context(), "ours", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitWake("deletion")
	served = false
	if follow() || w.stop != nil {
		t.Error("the watch must end with the CRD")
	}
	served = true
	if !follow() || w.stop == nil {
		t.Error("the watch must start again with the CRD")
	}
}

// awaitWatch waits until something is watched: unlike a real API server, those in memory of client-go
// do not tell a watch what changed between it and the list before it.
func awaitWatch(t *testing.T, server interface{ Actions() []clienttesting.Action }) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return slices.ContainsFunc(server.Actions(), func(a clienttesting.Action) bool { return a.GetVerb() == "watch" }), nil
	})
	if err != nil {
		t.Fatalf("nothing is watched: %v", err)
	}
}
