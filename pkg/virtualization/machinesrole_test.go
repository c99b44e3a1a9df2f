package virtualization

import (
	"cmp"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestRightsOnPlatforms(t *testing.T) {
	tests := map[string]struct {
		reason string
		// served are the CRDs in the cache, there those that the API server has.
		served, there         []string
		bound, closed, traced bool
		// failure is of the list of CRDs, refused of the annotation.
		failure, refused error
		want             string
	}{
		"Nothing":    {reason: "no platform is there"},
		"CDI":        {reason: "it has come", served: []string{storageProfiles.crd()}, want: "create"},
		"Harvester":  {reason: "it has come", served: []string{harvesterSettings}, want: "create"},
		"Images":     {reason: "disk images are read", served: []string{machineImages.crd()}, want: "create"},
		"KubeVirt":   {reason: "nothing of it is read or written", served: []string{machinesCRD}},
		"Importers":  {reason: "nobody reads how an importer is configured that has no StorageProfiles", served: []string{importers.crd()}},
		"Closed":     {reason: "the driver is not deployed", served: []string{storageProfiles.crd()}, closed: true},
		"Has":        {reason: "idle means idle", served: []string{storageProfiles.crd()}, bound: true},
		"Gone":       {reason: "nothing is left to read or write", bound: true, want: "delete"},
		"OldCache":   {reason: "it is there, past the cache", there: []string{storageProfiles.crd()}, bound: true},
		"Unread":     {reason: "an error proves nothing", failure: errors.New("no answer"), bound: true},
		"Traced":     {reason: "an annotation is left, and taken back", traced: true, bound: true, want: "delete"},
		"TraceLeft":  {reason: "it cannot be", traced: true, refused: errors.New("later"), bound: true},
		"GoneClosed": {reason: "nothing is written unless Managed", bound: true, closed: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newGateRig(t)
			r.served, r.open = map[string][]string{}, !tc.closed
			for _, crd := range tc.served {
				r.served[crd] = []string{"v1beta1"}
			}
			for _, crd := range append(tc.there, "others.example.com") {
				r.add(t, ctrl.CRDs.GroupVersion().String(), "CustomResourceDefinition", crd, func(o *unstructured.Unstructured) { o.SetDeletionTimestamp(&metav1.Time{}) })
			}
			r.add(t, "storage.k8s.io/v1", "StorageClass", "users", func(o *unstructured.Unstructured) {
				manager := "kubectl"
				if tc.traced {
					manager = driver.RBD.OperatorName() + "-" + annotationsName
				}
				o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:a":{}}}}`)}})
			})
			if !tc.bound {
				r.unbind(t, driver.RBD.MachinesRole())
			}
			// The API server selects by name; the client's fake does not.
			r.client.PrependReactor("list", ctrl.CRDs.Resource, func(action clienttesting.Action) (bool, runtime.Object, error) {
				if tc.failure != nil {
					return true, nil, tc.failure
				}
				name, _ := action.(clienttesting.ListAction).GetListRestrictions().Fields.RequiresExactMatch(metav1.ObjectNameField)
				out := &unstructured.UnstructuredList{}
				if held, err := r.client.Tracker().Get(ctrl.CRDs, "", name); err == nil {
					out.Items = append(out.Items, *held.(*unstructured.Unstructured))
				}
				return true, out, nil
			})
			released := 0
			r.client.PrependReactor("patch", storageClassVersion.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				released++
				return true, nil, tc.refused
			})
			r.kube.ClearActions()
			wanted := cmp.Or(tc.failure, tc.refused)
			err := r.gate.Sync(t.Context(), r.syncCtx)
			if got := r.writes(); got != "" && tc.want != got || got == "delete" {
				t.Errorf("%s: %q while something may still be read", tc.reason, got)
			}
			r.clock.SetTime(r.clock.Now().Add(spread))
			err = errors.Join(err, r.gate.Sync(t.Context(), r.syncCtx))
			if !errors.Is(err, wanted) || wanted == nil && err != nil {
				t.Fatal(err)
			}
			if (released > 0) != tc.traced {
				t.Errorf("%s: released %d StorageClasses", tc.reason, released)
			}
			if got := r.writes(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestWhyThereAreNoRights: who waits for the objects tells.
func TestWhyThereAreNoRights(t *testing.T) {
	r := newGateRig(t)
	r.unbind(t, driver.RBD.MachinesRole())
	denied := errors.New("denied")
	r.kube.PrependReactor("create", "clusterrolebindings", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, denied })
	if err := r.gate.Sync(t.Context(), r.syncCtx); !errors.Is(err, denied) {
		t.Errorf("got %v", err)
	}
	if known, why := r.config.Watches.all(storageProfiles, snapshotClasses); known != loading || !errors.Is(why, denied) {
		t.Errorf("got state %d, %v", known, why)
	}
}

func (r *gateRig) add(t *testing.T, apiVersion, kind, name string, change func(*unstructured.Unstructured)) {
	t.Helper()
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetAPIVersion(apiVersion)
	out.SetKind(kind)
	out.SetName(name)
	change(out)
	if err := r.client.Tracker().Add(out); err != nil {
		t.Fatal(err)
	}
}
