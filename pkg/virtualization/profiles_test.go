package virtualization

import (
	"testing"

	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestProfileOfAnotherClassIsReleased: a StorageClass was deleted and made again by another driver
// before CDI noticed, which then keeps the StorageProfile.
func TestProfileOfAnotherClassIsReleased(t *testing.T) {
	config := wishing(t, driver.RBD, nil)
	manager := profiles{config}.manager()
	profile := func(name, owner string) *unstructured.Unstructured {
		out := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{snapshotClassField: "s"}, "status": map[string]any{"provisioner": "x"},
		}}
		out.SetGroupVersionKind(storageProfiles.WithVersion("v1").GroupVersion().WithKind("StorageProfile"))
		out.SetName(name)
		out.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: owner, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:snapshotClass":{}}}`)}})
		return out
	}
	for owner, want := range map[string]int{manager: 1, "user": 0} {
		client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
		var applied []any
		client.PrependReactor("patch", storageProfiles.Resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
			object := &unstructured.Unstructured{}
			err := object.UnmarshalJSON(a.(clienttesting.PatchAction).GetPatch())
			applied = append(applied, object.Object["spec"])
			return true, object, err
		})
		c := profiles{config}
		c.Dynamic, c.Recorder = client, events.NewInMemoryRecorder("test", clock.RealClock{})
		c.Watches = watching(t, storageProfiles, profile("x", owner))
		told, err := c.complete(t.Context())
		if err != nil || len(told) > 0 || len(applied) != want {
			t.Errorf("field of %s: got %v, %v, applied %v, want %d writes", owner, told, err, applied, want)
		}
		for _, spec := range applied {
			if fields, _ := spec.(map[string]any); len(fields) > 0 {
				t.Errorf("kept %v", fields)
			}
		}
	}
}
