package clusterstorage

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

const deploymentDegraded = "CephRBDCSIDriverOperatorDeploymentDegraded"

// storageOf has conditions of managers, as "manager" to "type of the condition".
func storageOf(managers map[string]string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	var fields []metav1.ManagedFieldsEntry
	for manager, kind := range managers {
		fields = append(fields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: "status",
			FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:status":{"f:conditions":{"k:{\"type\":\"%s\"}":{".":{},"f:status":{}}}}}`, kind)),
		})
	}
	out.SetManagedFields(fields)
	return out
}

// TestForgotten: what a version wrote that is gone would count for ever.
func TestForgotten(t *testing.T) {
	for kind, tc := range map[string]struct {
		reason string
		want   bool
	}{
		"CephOldDegraded":             {"a controller that there is no longer", true},
		"CephRBDOldAvailable":         {"one of a driver", true},
		"CephRBDProgressing":          {"ours", false},
		deploymentDegraded:            {"ours", false},
		"CephCRDPatchDegraded":        {"ours", false},
		"CephClusterStorageAvailable": {"ours", false},
	} {
		s := filled()
		storage := storageOf(map[string]string{FieldManager + "X": kind, "somebody": "CephOtherDegraded"})
		for _, manager := range []string{FieldManager + "X", "somebody"} {
			want := tc.want && manager != "somebody"
			if got := s.forgotten(storage, manager); got != want {
				t.Errorf("%s of %s (%s): %v", kind, manager, tc.reason, got)
			}
		}
	}
}

func TestRelease(t *testing.T) {
	storage := storageOf(map[string]string{FieldManager + "A": "A", FieldManager + "B": "B", "somebody": "C"})
	storage.SetName("cluster")
	for name, tc := range map[string]struct {
		reason   string
		outdated func(string) bool
		want     int
	}{
		"One":  {"a driver that nobody wants any more", func(manager string) bool { return manager != FieldManager+"B" }, 1},
		"All":  {"what others own stays", func(string) bool { return true }, 2},
		"None": {"nothing is outdated", func(string) bool { return false }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewSimpleDynamicClient(runtime.NewScheme())
			var bodies []string
			client.PrependReactor("patch", "storages", func(action clienttesting.Action) (bool, runtime.Object, error) {
				patch := action.(clienttesting.PatchAction)
				bodies = append(bodies, patch.GetSubresource()+" "+string(patch.GetPatch()))
				return true, storage, nil
			})
			if err := Release(t.Context(), client, storage, tc.outdated); err != nil {
				t.Fatal(err)
			}
			if len(bodies) != tc.want {
				t.Errorf("%s: %q", tc.reason, bodies)
			}
			for _, body := range bodies {
				if !strings.HasPrefix(body, "status ") || strings.Contains(body, `"status"`) {
					t.Errorf("applying %s keeps something", body)
				}
			}
		})
	}
}
