package virtualization

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openshift/library-go/pkg/operator/events"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	savedstate "github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is a record that outlives processes.
type memory struct {
	class *savedstate.Class
	// meanwhile happens before a write.
	meanwhile func()
}

func (m *memory) Load() (savedstate.Class, bool, error) { return m.Read(context.Background()) }

func (m *memory) Read(context.Context) (savedstate.Class, bool, error) {
	if m.class == nil {
		return savedstate.Class{}, false, nil
	}
	return *m.class, true, nil
}

func (m *memory) Save(_ context.Context, class savedstate.Class) error {
	if m.meanwhile != nil {
		m.meanwhile()
	}
	m.class = &class
	return nil
}

// TestKilledWhileMadeAnew: the process ends between deletion and creation, and a new one goes on.
func TestKilledWhileMadeAnew(t *testing.T) {
	existing := storageClass("v", func(c *storagev1.StorageClass) {
		c.UID = "old"
		c.Annotations = map[string]string{"mine": "1", defaultForMachines: "false"}
		c.Labels["user"] = "label"
	})
	wanted := existing.DeepCopy()
	client := fake.NewClientset(existing)
	killed := true
	errKilled := errors.New("killed")
	client.PrependReactor("create", "storageclasses", func(action clienttesting.Action) (bool, runtime.Object, error) {
		trial := len(action.(clienttesting.CreateActionImpl).CreateOptions.DryRun) > 0
		return killed && !trial, nil, errKilled
	})
	record, lock := &memory{}, &sync.Mutex{}
	process := func(existing *storagev1.StorageClass, cached savedstate.Class) error {
		c := classController{ClassConfig: ClassConfig{Config: Config{Env: ctrl.Env{Remembering: lock, Kube: client, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{})}},
			Record: record,
		}}
		return c.act(t.Context(), classFacts{
			driver: driver.RBD, existing: existing, base: storageClass("b", nil), last: cached,
			asset: &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: "v", Labels: map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName()}, Annotations: map[string]string{defaultForMachines: "true"}},
				Parameters: map[string]string{"pool": "q"},
			},
		})
	}
	if err := process(existing, savedstate.Class{}); !errors.Is(err, errKilled) {
		t.Fatalf("got %v", err)
	}
	if _, err := client.StorageV1().StorageClasses().Get(t.Context(), "v", metav1.GetOptions{}); err == nil {
		t.Fatal("the class was not deleted")
	}
	killed = false
	// The cache does not have yet what is remembered.
	if err := process(nil, savedstate.Class{}); err != nil {
		t.Fatal(err)
	}
	after, err := client.StorageV1().StorageClasses().Get(t.Context(), "v", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted.Annotations, after.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wanted.Labels, after.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	after.UID = "new"
	record.meanwhile = func() {
		if lock.TryLock() {
			t.Error("the class may be deleted while what it had is forgotten")
			lock.Unlock()
		}
	}
	if err := process(after, *record.class); err != nil {
		t.Fatal(err)
	}
	if record.class == nil || record.class.UID != "" {
		t.Errorf("%+v is remembered: a class that is deleted later would come back with it", record.class)
	}

	record.class = &savedstate.Class{UID: "new", Annotations: after.Annotations}
	if err := client.StorageV1().StorageClasses().Delete(t.Context(), "v", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := process(after, *record.class); err != nil || record.class.Empty() {
		t.Errorf("%v; what is remembered of a class that is gone is forgotten while the cache has it still", err)
	}
}
