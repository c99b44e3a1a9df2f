package virtualization

import (
	"maps"
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

// TestProfilesAreReleased: what is ours goes where it is not for us any more to say, and what is a user's stays.
func TestProfilesAreReleased(t *testing.T) {
	manager := driver.RBD.FieldManager(profilesName)
	for name, tc := range map[string]struct {
		reason, class, field, owner string
		writes                      int
	}{
		"OtherDriver":      {"the StorageClass was deleted and made again by another driver before CDI noticed, which then keeps the StorageProfile", "x", snapshotClassField, manager, 1},
		"OtherDriverUsers": {"a user's field in it", "x", snapshotClassField, "user", 0},
		"Chosen":           {"the StorageClass got CDI's annotation", "c", cloneStrategyField, manager, 1},
		"ChosenUsers":      {"a user's field beside the annotation", "c", cloneStrategyField, "user", 0},
	} {
		c := profiles{wishing(t, driver.RBD, nil)}
		chosen := choosing("copy")
		chosen.Name, chosen.Provisioner = "c", driver.RBD.Name
		if err := c.StorageClasses.Informer().GetStore().Add(chosen); err != nil {
			t.Fatal(err)
		}
		client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
		var applied []any
		client.PrependReactor("patch", storageProfiles.Resource, func(a clienttesting.Action) (bool, runtime.Object, error) {
			object := &unstructured.Unstructured{}
			err := object.UnmarshalJSON(a.(clienttesting.PatchAction).GetPatch())
			applied = append(applied, object.Object["spec"])
			return true, object, err
		})
		c.Dynamic, c.Recorder = client, events.NewInMemoryRecorder("test", clock.RealClock{})
		c.Watches = watching(t, storageProfiles, profileOf(tc.class, tc.field, tc.owner))
		told, err := c.complete(t.Context())
		if err != nil || len(told) > 0 || len(applied) != tc.writes {
			t.Errorf("%s: %s: got %v, %v, applied %v, want %d writes", name, tc.reason, told, err, applied, tc.writes)
		}
		for _, spec := range applied {
			if fields, _ := spec.(map[string]any); len(fields) > 0 {
				t.Errorf("%s: %s: kept %v", name, tc.reason, fields)
			}
		}
	}
}

// TestImagesAsVolumes: who keeps them so for disks that are encrypted otherwise does what is right.
func TestImagesAsVolumes(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, provisioner, encrypted string
		told                           bool
	}{
		"Encrypted":   {reason: "snapshots would not do for its disks", provisioner: driver.RBD.Name, encrypted: "true"},
		"Alike":       {reason: "snapshots are faster", provisioner: driver.RBD.Name, encrypted: "false", told: true},
		"OtherDriver": {reason: "its disks are copies in any case", provisioner: "x", encrypted: "true", told: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := profiles{wishing(t, driver.RBD, nil)}
			other := classOf("e", tc.provisioner, "")
			other.Parameters["encrypted"] = tc.encrypted
			if err := c.StorageClasses.Informer().GetStore().Add(other); err != nil {
				t.Fatal(err)
			}
			profile := profileOf("a", imageFormatField, "kubectl-patch")
			profile.Object["spec"] = map[string]any{imageFormatField: "pvc"}
			snapshots := named("s", map[string]any{"driver": driver.RBD.Name})
			c.Watches = watching(t, storageProfiles, profile)
			maps.Copy(c.Watches.running, watching(t, snapshotClasses, snapshots).running)
			client := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme())
			client.PrependReactor("patch", storageProfiles.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, profile, nil })
			c.Dynamic, c.Recorder = client, events.NewInMemoryRecorder("test", clock.RealClock{})
			told, err := c.complete(t.Context())
			if err != nil || (len(told) > 0) != tc.told {
				t.Errorf("%s: got %q, %v", tc.reason, told, err)
			}
		})
	}
}

// profileOf is a class's StorageProfile with one field that somebody has written.
func profileOf(class, field, owner string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{field: "s"},
		"status": map[string]any{"provisioner": "x", claimSetsField: claimSets(driver.RBD.Virtualization.ClaimSets)},
	}}
	out.SetGroupVersionKind(storageProfiles.WithVersion("v1").GroupVersion().WithKind("StorageProfile"))
	out.SetName(class)
	out.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: owner, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:` + field + `":{}}}`)}})
	return out
}
