package classes

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is a record that outlives processes.
type memory struct {
	class  *state.Class
	writes int
	// behind has the cache know nothing.
	behind bool
	// meanwhile happens before a write.
	meanwhile func()
}

func (m *memory) Load() (state.Class, bool, error) {
	if m.behind {
		return state.Class{}, false, nil
	}
	return m.Read(context.Background())
}

func (m *memory) Read(context.Context) (state.Class, bool, error) {
	if m.class == nil {
		return state.Class{}, false, nil
	}
	return *m.class, true, nil
}

func (m *memory) Save(_ context.Context, class state.Class) error {
	if m.meanwhile != nil {
		m.meanwhile()
	}
	if m.class == nil || !cmp.Equal(*m.class, class) {
		m.writes++
	}
	m.class = &class
	return nil
}

var errKilled = errors.New("killed")

// TestKilledWhileMadeAnew: the process ends after library-go has deleted the class, and a new one
// goes on.
func TestKilledWhileMadeAnew(t *testing.T) {
	ctx := t.Context()
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	tests := map[string]struct {
		reason      string
		annotations map[string]string
		state       operatorv1.StorageClassStateName
		management  operatorv1.ManagementState
		gone        bool
	}{
		"Default":        {reason: "library-go would make it the default beside no other one only", annotations: map[string]string{defaultAnnotation: "true", "user.example.com/a": "b"}},
		"Not":            {reason: "library-go would make it the default", annotations: map[string]string{defaultAnnotation: "false"}},
		"Emptied":        {reason: "somebody took the value away", annotations: map[string]string{defaultAnnotation: ""}},
		"Removed":        {reason: "nobody wants it any more", annotations: map[string]string{defaultAnnotation: "true"}, state: operatorv1.RemovedStorageClass, gone: true},
		"ClassUnmanaged": {reason: "it is the administrator's affair now", annotations: map[string]string{defaultAnnotation: "true"}, state: operatorv1.UnmanagedStorageClass, gone: true},
		"Unmanaged":      {reason: "the driver is the administrator's affair now", annotations: map[string]string{defaultAnnotation: "true"}, management: operatorv1.Unmanaged, gone: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			record := &memory{}
			process := func(existing *storagev1.StorageClass, inner factory.SyncFunc) (*StorageClass, error) {
				s := newStorageClass(t, driver.RBD, existing, place)
				s.Record = record
				return s, s.Guard(inner)(ctx, nil)
			}
			before := ours(map[string]string{"pool": "old"})
			before.UID = "old"
			before.Annotations = maps.Clone(tc.annotations)
			before.Labels["user.example.com/l"] = "v"
			_, err := process(before, func(context.Context, factory.SyncContext) error { return errKilled })
			if !errors.Is(err, errKilled) || record.class == nil {
				t.Fatalf("%s: %v, recorded %v", tc.reason, err, record.class)
			}
			s := newStorageClass(t, driver.RBD, nil, place)
			s.Record = record
			if tc.management != "" {
				s.Operator = conditiontest.New(tc.management)
			}
			if tc.state != "" {
				s.State = func() (operatorv1.StorageClassStateName, error) { return tc.state, nil }
			}
			nothing := func(context.Context, factory.SyncContext) error { return nil }
			if err := s.Guard(nothing)(ctx, nil); err != nil {
				t.Fatal(err)
			}
			after, err := s.Kube.StorageV1().StorageClasses().Get(ctx, driver.RBD.StorageClass, metav1.GetOptions{})
			if tc.gone {
				if err == nil {
					t.Errorf("%s: it was created", tc.reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.annotations, after.Annotations); diff != "" || after.Labels["user.example.com/l"] != "v" || after.Parameters["pool"] != "p" {
				t.Errorf("%s: labels %v, parameters %v, annotations -want +got:\n%s", tc.reason, after.Labels, after.Parameters, diff)
			}
			after.UID = "new"
			for range 2 {
				if _, err := process(after, nothing); err != nil {
					t.Fatal(err)
				}
			}
			if record.class.UID != "" || record.writes != 2 {
				t.Errorf("%s: %v is recorded after %d writes; a class that is deleted later would come back with it", tc.reason, record.class, record.writes)
			}
		})
	}
}

// TestRecordsNothingWithoutNeed: a class that stays as it is costs no write.
func TestRecordsNothingWithoutNeed(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	current := resourceread.ReadStorageClassV1OrDie(manifest(t, driver.RBD, assets.StorageClass))
	if err := newStorageClass(t, driver.RBD, nil, place).Hook()(nil, current); err != nil {
		t.Fatal(err)
	}
	for reason, existing := range map[string]*storagev1.StorageClass{"it is yet to be made": nil, "it is as it should be": current} {
		record := &memory{}
		s := newStorageClass(t, driver.RBD, existing, place)
		s.Record = record
		if err := s.Guard(func(context.Context, factory.SyncContext) error { return nil })(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if record.class != nil {
			t.Errorf("%s, but %v is recorded", reason, *record.class)
		}
	}
}

// TestCacheIsBehind: while the cache has another class than there is, nothing is forgotten, and library-go, which would
// fail, does not run.
func TestCacheIsBehind(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	remembered := state.Class{UID: "old", Annotations: map[string]string{defaultAnnotation: "false"}}
	for name, live := range map[string]*storagev1.StorageClass{
		"Gone":    nil,
		"Changed": {ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.StorageClass, ResourceVersion: "2"}},
	} {
		cached := ours(map[string]string{"clusterID": "f", "pool": "p"})
		cached.UID, cached.ResourceVersion = "old", "1"
		s := newStorageClass(t, driver.RBD, cached, place)
		record := &memory{class: &remembered}
		s.Record, s.Kube = record, fake.NewClientset()
		if live != nil {
			s.Kube = fake.NewClientset(live)
		}
		ran := false
		err := s.Guard(func(context.Context, factory.SyncContext) error { ran = true; return nil })(t.Context(), nil)
		if err != nil || ran || record.writes > 0 {
			t.Errorf("%s: %v, library-go ran is %t, %d writes of the record, which is %v", name, err, ran, record.writes, record.class)
		}
	}
}

// TestRemovedMeanwhile: who takes the driver off deletes a class because what it had is remembered. It is not forgotten then.
func TestRemovedMeanwhile(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	class := resourceread.ReadStorageClassV1OrDie(manifest(t, driver.RBD, assets.StorageClass))
	if err := newStorageClass(t, driver.RBD, nil, place).Hook()(nil, class); err != nil {
		t.Fatal(err)
	}
	s := newStorageClass(t, driver.RBD, class, place)
	storage := newSnapshotsRig(t)
	storage.settle(t, "made", func() bool {
		storage.client.ClearActions()
		return storage.controller.Sync(t.Context(), storage.syncCtx) == nil && len(storage.writes()) == 0
	})
	for name, of := range map[string]struct {
		record *memory
		lock   *sync.Mutex
		sync   func() error
	}{
		"StorageClass": {s.Record.(*memory), s.Remembering, func() error {
			return s.Guard(func(context.Context, factory.SyncContext) error { return nil })(t.Context(), nil)
		}},
		"VolumeSnapshotClass": {storage.config.Record.(*memory), storage.config.Remembering, func() error {
			return storage.controller.Sync(t.Context(), storage.syncCtx)
		}},
	} {
		of.record.class = &state.Class{UID: "uid"}
		of.record.meanwhile = func() {
			if of.lock.TryLock() {
				t.Errorf("%s: it may be deleted while what it had is forgotten", name)
				of.lock.Unlock()
			}
		}
		if err := of.sync(); err != nil || !of.record.class.Empty() || !of.lock.TryLock() {
			t.Errorf("%s: %v, %v is remembered of what is there", name, err, of.record.class)
		}
	}
}

// TestSettingsChangeMidway: library-go deletes a class for nothing that was not recorded and tried before.
func TestSettingsChangeMidway(t *testing.T) {
	place := &ceph.Placement{FSID: "f", Pool: "p"}
	existing := resourceread.ReadStorageClassV1OrDie(manifest(t, driver.RBD, assets.StorageClass))
	if err := newStorageClass(t, driver.RBD, nil, place).Hook()(nil, existing); err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string]func(s *StorageClass){
		"Settings":  func(*StorageClass) {},
		"Placement": func(s *StorageClass) { s.Placement.Clear() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStorageClass(t, driver.RBD, existing, place)
			before(s)
			settings := driver.Settings{}
			s.Settings = func() (driver.Settings, error) { return settings, nil }
			wanted := func() *storagev1.StorageClass {
				class := resourceread.ReadStorageClassV1OrDie(s.Manifest)
				if err := s.Hook()(nil, class); err != nil {
					t.Fatal(err)
				}
				return class
			}
			err := s.Guard(func(context.Context, factory.SyncContext) error {
				settings.MapOptions = "krbd:rxbounce"
				s.Placement.Set(*place)
				if differ(existing, wanted()) {
					t.Error("library-go would delete a class that is recorded nowhere")
				}
				return nil
			})(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !differ(existing, wanted()) {
				t.Error("the next sync knows nothing of the change")
			}
		})
	}
}

// TestRefusedSuccessor: a class is not deleted where admission lets nobody make the next one.
func TestRefusedSuccessor(t *testing.T) {
	existing := ours(map[string]string{"pool": "old"})
	existing.UID = "old"
	existing.Annotations = map[string]string{defaultAnnotation: "false"}
	s := newStorageClass(t, driver.RBD, existing, &ceph.Placement{FSID: "f", Pool: "p"})
	record := &memory{}
	s.Record = record
	client := fake.NewClientset(existing)
	s.Kube = client
	refused := apierrors.NewForbidden(storagev1.Resource("storageclasses"), existing.Name, errors.New("a webhook"))
	client.PrependReactor("create", "storageclasses", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if got := action.(clienttesting.CreateAction).GetObject().(*storagev1.StorageClass).Annotations[defaultAnnotation]; got != "false" {
			t.Errorf("what is tried has %q in %s", got, defaultAnnotation)
		}
		return true, nil, refused
	})
	err := s.Guard(func(context.Context, factory.SyncContext) error {
		t.Error("library-go would delete the class")
		return nil
	})(t.Context(), nil)
	if !errors.Is(err, refused) || record.class != nil {
		t.Errorf("got %v, recorded %v", err, record.class)
	}
}
