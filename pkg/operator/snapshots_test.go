package operator

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
)

func content(name, driver, handle string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshotContent",
		"metadata": map[string]any{"name": name, "labels": map[string]any{"a": "b"}},
		"spec":     map[string]any{"driver": driver, "source": map[string]any{"volumeHandle": "v"}},
		"status":   map[string]any{"snapshotHandle": handle, "readyToUse": true},
	}}
}

func TestSnapshots(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{snapshotContents: "VolumeSnapshotContentList"},
		content("ours", "rbd", "h1"), content("theirs", "other", "h2"))
	served, woken := false, make(chan struct{}, 10)
	s := &snapshots{client: client, driver: "rbd", served: func() bool { return served }}
	follow := func() bool {
		t.Helper()
		known, err := s.follow(t.Context(), func() { woken <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	expect := func(reason string, want ...string) {
		t.Helper()
		deadline := time.After(10 * time.Second)
		for !follow() || !slices.Equal(slices.Sorted(slices.Values(s.handles())), want) {
			select {
			case <-woken:
			case <-time.After(10 * time.Millisecond):
			case <-deadline:
				t.Fatalf("%s: got %q, want %q", reason, s.handles(), want)
			}
		}
	}
	if !follow() || len(s.handles()) > 0 || len(client.Actions()) > 0 {
		t.Errorf("without the CRD there are no snapshots, and nothing may be asked: %v", client.Actions())
	}
	served = true
	expect("the driver's only", "h1")
	if _, err := client.Resource(snapshotContents).Create(t.Context(), content("new", "rbd", "h3"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("a new one", "h1", "h3")
	if err := client.Resource(snapshotContents).Delete(t.Context(), "ours", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("one less", "h3")
	served = false
	expect("with the CRD all have gone")
	served = true
	expect("and come back with it", "h3")
}

func TestTrimSnapshot(t *testing.T) {
	s := &snapshots{driver: "rbd"}
	for driver, want := range map[string]string{"rbd": "h", "other": ""} {
		out, err := s.trim(content("c", driver, "h"))
		if err != nil {
			t.Fatal(err)
		}
		trimmed := out.(*unstructured.Unstructured)
		if handleOf(trimmed) != want || trimmed.GetName() != "c" || trimmed.GetLabels() != nil {
			t.Errorf("%s: kept %v", driver, trimmed.Object)
		}
	}
	static := content("c", "rbd", "")
	if err := unstructured.SetNestedField(static.Object, "s", "spec", "source", "snapshotHandle"); err != nil {
		t.Fatal(err)
	}
	if handleOf(static) != "s" {
		t.Error("the handle of a snapshot that an administrator declared")
	}
}
