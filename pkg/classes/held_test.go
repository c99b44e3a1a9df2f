package classes

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

func TestHeld(t *testing.T) {
	const managed, removed, unmanaged = operatorv1.ManagedStorageClass, operatorv1.RemovedStorageClass, operatorv1.UnmanagedStorageClass
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	old, wanted := map[string]string{"pool": "old"}, volumeParameters(driver.RBD, *place, driver.Settings{})
	tests := map[string]struct {
		reason   string
		state    operatorv1.StorageClassStateName
		existing *storagev1.StorageClass
		place    *ceph.Placement
		free     bool
		// asset has parameters of this version, besides those that the settings decide.
		asset map[string]string
		// runs says that library-go's controller is asked, for these parameters.
		runs       bool
		parameters map[string]string
		held       operatorv1.StorageClassStateName
	}{
		"Parameters": {
			reason: "making it anew would be refused", state: managed, existing: ours(old), place: place,
			runs: true, parameters: old, held: managed,
		},
		"Default": {reason: "no state is Managed", existing: ours(old), place: place, runs: true, parameters: old, held: managed},
		"Upgrade": {
			reason: "no setting would end what a newer version does", state: managed, existing: ours(wanted), place: place,
			asset: map[string]string{"new": "x"}, runs: true, parameters: wanted,
		},
		"UpgradeAndParameters": {
			reason: "the settings would change it, too", state: managed, existing: ours(old), place: place,
			asset: map[string]string{"new": "x"}, runs: true, parameters: old, held: managed,
		},
		"Free":      {reason: "nobody uses it", state: managed, existing: ours(old), place: place, free: true, runs: true, parameters: wanted},
		"Same":      {reason: "there is nothing to do", state: managed, existing: ours(wanted), place: place, runs: true, parameters: wanted},
		"First":     {reason: "it is yet to be made", state: managed, place: place, runs: true, parameters: wanted},
		"Undecided": {reason: "it stays exactly as it is", state: managed, existing: ours(old), runs: true, parameters: old},
		"Unmanaged": {reason: "nobody wants to change it", state: unmanaged, existing: ours(old), place: place, runs: true, parameters: wanted},
		"Removed":   {reason: "its deletion would be refused", state: removed, existing: ours(wanted), place: place, held: removed},
		"RemovedWithoutCeph": {
			reason: "it goes without Ceph, so it is kept without, too", state: removed, existing: ours(old), held: removed,
		},
		"RemovedFree":    {reason: "nobody uses it any more", state: removed, existing: ours(wanted), place: place, free: true, runs: true, parameters: wanted},
		"Gone":           {reason: "there is nothing to remove", state: removed, place: place, runs: true, parameters: wanted},
		"RemovedForeign": {reason: "it is somebody else's", state: removed, existing: class(driver.RBD.Name, "", old), place: place},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStorageClass(t, driver.RBD, tc.existing, tc.place)
			s.InUse = func(class string) bool { return class == driver.RBD.StorageClass && !tc.free }
			s.State = func() (operatorv1.StorageClassStateName, error) { return tc.state, nil }
			for _, before := range []operatorv1.StorageClassStateName{managed, removed} {
				s.Held.Set(before)
				asset := &storagev1.StorageClass{}
				asset.Name, asset.Parameters = driver.RBD.StorageClass, maps.Clone(tc.asset)
				runs := false
				err := s.Guard(func(context.Context, factory.SyncContext) error {
					runs = true
					return s.Hook()(&operatorv1.OperatorSpec{}, asset)
				})(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				if runs != tc.runs {
					t.Errorf("%s: library-go's controller runs: %v, want %v", tc.reason, runs, tc.runs)
				}
				if diff := cmp.Diff(tc.parameters, asset.Parameters); diff != "" {
					t.Errorf("%s: parameters (-want +got):\n%s", tc.reason, diff)
				}
				if held, _ := s.Held.Get(); held != tc.held {
					t.Errorf("%s: held up is %q, want %q", tc.reason, held, tc.held)
				}
			}
		})
	}
}

func TestGuardWithoutState(t *testing.T) {
	s := newStorageClass(t, driver.RBD, ours(nil), nil)
	unknown := errors.New("no answer")
	s.State = func() (operatorv1.StorageClassStateName, error) { return "", unknown }
	err := s.Guard(func(context.Context, factory.SyncContext) error {
		t.Error("library-go's controller may remove the class")
		return nil
	})(t.Context(), nil)
	if !errors.Is(err, unknown) {
		t.Errorf("got %v", err)
	}
}
