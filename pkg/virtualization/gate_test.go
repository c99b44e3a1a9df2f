package virtualization

import (
	"context"
	"errors"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

type gateRig struct {
	config   GateConfig
	client   *dynamicfake.FakeDynamicClient
	operator *conditiontest.Operator
	served   map[string][]string
	open     bool
	// undecided says that the driver's gate is.
	undecided bool
	syncCtx   factory.SyncContext
	gate      factory.Controller
	clock     *testclock.FakeClock
	kube      *fake.Clientset
}

// newGateRig has CDI with a StorageProfile, an open gate and a driver that is Managed.
func newGateRig(t *testing.T) *gateRig {
	t.Helper()
	lists := map[schema.GroupVersionResource]string{}
	for _, k := range kindsOf(driver.RBD) {
		lists[k.WithVersion("v1")] = "List"
		lists[k.WithVersion("v1beta1")] = "List"
	}
	lists[ctrl.CRDs], lists[storageClassVersion] = "List", "List"
	profile := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	profile.SetAPIVersion("cdi.kubevirt.io/v1beta1")
	profile.SetKind("StorageProfile")
	profile.SetName("p")
	r := &gateRig{
		client:   dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, profile),
		operator: conditiontest.New(operatorv1.Managed), open: true,
		served: map[string][]string{storageProfiles.crd(): {"v1beta1"}},
		clock:  testclock.NewFakeClock(time.Now()), kube: fake.NewClientset(),
	}
	recorder := events.NewInMemoryRecorder("test", clock.RealClock{})
	r.syncCtx = factory.NewSyncContext("test", recorder)
	r.config = GateConfig{Config: Config{Env: ctrl.Env{
		Driver: driver.RBD, Operator: r.operator, Dynamic: r.client, CRDs: &ctrl.Latest[bool]{}, Recorder: recorder, Served: func(crd string) []string { return r.served[crd] },
		Clock: r.clock,
	}, Watches: &Watches{}, Rights: Rights{Client: r.kube.RbacV1(), Bindings: informers.NewSharedInformerFactory(r.kube, 0).Rbac().V1().ClusterRoleBindings(), Recorder: recorder}},
		Open:   func() bool { return r.open },
		Closed: func() bool { return !r.open && !r.undecided },
	}
	r.gate = NewGate(r.config)
	r.bind(t, driver.RBD.MachinesRole())
	return r
}

// bind gives the operator a role, which it has had for long.
func (r *gateRig) bind(t *testing.T, role string) {
	t.Helper()
	r.addBinding(t, selfBinding(driver.RBD, role))
}

func (r *gateRig) addBinding(t *testing.T, binding *rbacv1.ClusterRoleBinding) {
	t.Helper()
	if err := r.config.Rights.Bindings.Informer().GetStore().Add(binding); err != nil {
		t.Fatal(err)
	}
	if err := r.kube.Tracker().Add(binding); err != nil {
		t.Fatal(err)
	}
}

// unbind takes a role from it.
func (r *gateRig) unbind(t *testing.T, role string) {
	t.Helper()
	if err := r.config.Rights.Bindings.Informer().GetStore().Delete(selfBinding(driver.RBD, role)); err != nil {
		t.Fatal(err)
	}
	if err := r.kube.Tracker().Delete(rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"), "", role); err != nil {
		t.Fatal(err)
	}
}

func (r *gateRig) sync(t *testing.T) {
	t.Helper()
	if err := r.gate.Sync(t.Context(), r.syncCtx); err != nil {
		t.Fatal(err)
	}
}

// expect syncs, and waits for the state of a kind.
func (r *gateRig) expect(t *testing.T, reason string, k kind, want state) {
	t.Helper()
	r.sync(t)
	var got state
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		got, _ = r.config.Watches.state(k)
		return got == want, nil
	})
	if err != nil {
		t.Fatalf("%s: got state %d, want %d", reason, got, want)
	}
}

// TestGateUndecided: what is called absent after a start takes a condition away that comes back a moment later.
func TestGateUndecided(t *testing.T) {
	r := newGateRig(t)
	r.config.Watches = NewWatches()
	r.gate = NewGate(r.config)
	r.open, r.undecided = false, true
	r.expect(t, "nobody knows yet whether the driver is deployed", storageProfiles, loading)
	machines := &MachinesController{MachinesConfig: MachinesConfig{Config: Config{Env: ctrl.Env{Operator: r.operator}, Watches: r.config.Watches}}}
	if err := machines.voice(machinesName, condition.MachinesUsable).bad(t.Context(), condition.SyncError, "m"); err != nil {
		t.Fatal(err)
	}
	if err := machines.sync(t.Context(), r.syncCtx); err != nil || r.operator.Condition(condition.MachinesUsable) == nil {
		t.Errorf("what was said before is gone, %v", err)
	}
	r.open, r.undecided = true, false
	r.expect(t, "it is", storageProfiles, ready)

	r.config.Watches, r.open = NewWatches(), false
	r.gate = NewGate(r.config)
	r.expect(t, "it is not, and that is decided", storageProfiles, absent)
}

func TestGate(t *testing.T) {
	r := newGateRig(t)
	woken := make(chan struct{}, 100)
	_, err := r.config.Watches.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { woken <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	r.expect(t, "CDI is there", storageProfiles, ready)
	<-woken
	if names := r.config.Watches.list(storageProfiles); len(names) != 1 || names[0].GetName() != "p" {
		t.Errorf("got %v", names)
	}
	r.expect(t, "CDI's own CRD is not", importers, absent)
	r.served[snapshotClasses.crd()] = []string{"v1beta1", "v1"}
	r.expect(t, "snapshots have come", snapshotClasses, ready)
	if resource, _ := r.config.Watches.resource(snapshotClasses); resource.Version != "v1" {
		t.Errorf("got version %s, want the newest", resource.Version)
	}

	r.operator.SetState(operatorv1.Unmanaged)
	r.expect(t, "nothing runs unless Managed", storageProfiles, absent)
	r.operator.SetState(operatorv1.Managed)
	r.expect(t, "Managed again", storageProfiles, ready)
	r.open = false
	r.expect(t, "the driver is not deployed", storageProfiles, absent)
	r.open = true
	r.expect(t, "it is again", storageProfiles, ready)

	delete(r.served, storageProfiles.crd())
	r.expect(t, "CDI has gone", storageProfiles, absent)
	r.expect(t, "nobody reads snapshot classes any more", snapshotClasses, absent)
	if all := r.config.Watches.list(storageProfiles); len(all) > 0 {
		t.Errorf("got %v of a kind that is gone", all)
	}
}

func TestNothingIsReadWithoutPlatforms(t *testing.T) {
	r := newGateRig(t)
	r.unbind(t, driver.RBD.MachinesRole())
	r.served = map[string][]string{snapshotClasses.crd(): {"v1"}}
	r.expect(t, "no CRD of a platform is there", snapshotClasses, absent)
	if actions := r.client.Actions(); len(actions) > 0 {
		t.Errorf("got %v", actions)
	}
}

// TestOnlyTheSettingsOfDrivers: others of Harvester's settings hold credentials.
func TestOnlyTheSettingsOfDrivers(t *testing.T) {
	r := newGateRig(t)
	r.served = map[string][]string{harvesterSettings: {"v1beta1"}}
	r.expect(t, "Harvester is there", driverConfig, ready)
	r.expect(t, "Harvester is there", expansion, ready)
	for _, action := range r.client.Actions() {
		list, ok := action.(clienttesting.ListAction)
		if !ok {
			continue
		}
		name, only := list.GetListRestrictions().Fields.RequiresExactMatch("metadata.name")
		if !only || name != driverConfig.name && name != expansion.name {
			t.Errorf("lists %s: %v", list.GetResource().Resource, list.GetListRestrictions().Fields)
		}
	}
}

func TestWhyAKindIsNotKnown(t *testing.T) {
	r := newGateRig(t)
	denied := errors.New("denied")
	r.client.PrependReactor("list", storageProfiles.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, denied })
	r.sync(t)
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		known, why := r.config.Watches.all(storageProfiles, snapshotClasses)
		return known == loading && errors.Is(why, denied), nil
	})
	if err != nil {
		t.Errorf("the reason stays unknown: %v", err)
	}
}
