package removal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is a record.
type memory struct{ class state.Class }

func (m *memory) Load() (state.Class, bool, error) { return m.class, !m.class.Empty(), nil }

func (m *memory) Save(_ context.Context, value state.Class) error {
	m.class = value
	return nil
}

// rig is a cluster with everything of the RBD driver.
type rig struct {
	config       Config
	controller   factory.Controller
	syncCtx      factory.SyncContext
	operator     *conditiontest.Operator
	client       *dynamicfake.FakeDynamicClient
	clock        *clocktesting.FakePassiveClock
	state        *ctrl.Latest[operatorv1.ManagementState]
	record       *memory
	declared     bool
	cached, held Held
	unread       error
	looks        int
	traces       []string
	objects      Objects
}

const class = "StorageClass ceph-rbd"

func newRig(t *testing.T) *rig {
	t.Helper()
	objects, _ := objectsOf(t, driver.RBD)
	r := &rig{
		operator: conditiontest.New(operatorv1.Managed), clock: clocktesting.NewFakePassiveClock(time.Unix(1000, 0)),
		state: &ctrl.Latest[operatorv1.ManagementState]{}, record: &memory{}, objects: objects,
	}
	served := func(string) []string { return []string{"v1"} }
	kinds := map[schema.GroupVersionResource]string{
		pods: "PodList", leases: "LeaseList", Native["ValidatingAdmissionPolicy"]: "ValidatingAdmissionPolicyList",
	}
	var existing []runtime.Object
	for _, o := range slices.Concat(objects.Classes, objects.Workloads, objects.Rest) {
		of, _ := resource(o.Kind, served)
		kinds[of] = o.Kind + "List"
		existing = append(existing, live(of, o.Kind, o.Namespace, o.Name))
	}
	existing = append(existing, live(pods, "Pod", driver.Namespace, "node-1", "app", driver.RBD.NodeName()),
		live(leases, "Lease", driver.Namespace, "external-attacher-leader-rbd-csi-ceph-com"),
		live(leases, "Lease", driver.Namespace, driver.RBD.OperatorName()+"-lock"),
		live(Native["Secret"], "Secret", driver.Namespace, driver.CredentialsSecret),
		live(Native["ConfigMap"], "ConfigMap", driver.Namespace, driver.RBD.StateConfigMap()))
	r.client = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, existing...)
	recorder := events.NewInMemoryRecorder("test", r.clock)
	r.syncCtx = factory.NewSyncContext("test", recorder)
	r.config = Config{
		Driver: driver.RBD, Operator: r.operator, Client: r.client, Objects: objects, Served: served,
		Declared:    func() (bool, error) { return r.declared, nil },
		Cached:      func() (Held, error) { return r.cached, nil },
		Attachments: func(context.Context) (int, error) { return r.held.Attachments, r.unread },
		Look: func(context.Context) (Held, error) {
			r.looks++
			return r.held, r.unread
		},
		Deployed: func() (bool, error) {
			_, err := r.client.Tracker().Get(Native["DaemonSet"], driver.Namespace, driver.RBD.NodeName())
			return err == nil, nil
		},
		Records: map[string]Record{class: r.record},
		TakeBack: func(context.Context) ([]string, error) {
			out := r.traces
			r.traces = nil
			return out, nil
		},
		State: r.state, Clock: r.clock, Recorder: recorder,
	}
	r.controller = New(r.config)
	return r
}

func live(of schema.GroupVersionResource, kind, namespace, name string, labels ...string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(of.GroupVersion().WithKind(kind))
	out.SetNamespace(namespace)
	out.SetName(name)
	out.SetUID("uid")
	out.SetLabels(map[string]string{driver.ManagedByLabel: driver.RBD.OperatorName(), "users": "label"})
	if len(labels) > 0 {
		out.SetLabels(map[string]string{labels[0]: labels[1]})
	}
	out.SetAnnotations(map[string]string{"csi.openshift.io/managed": "true", "users": "annotation"})
	return out
}

// there names all objects.
func (r *rig) there(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, of := range slices.Concat(r.objects.Classes, r.objects.Workloads, r.objects.Rest) {
		gvr, _ := resource(of.Kind, func(string) []string { return []string{"v1"} })
		r.list(t, gvr, &out)
	}
	r.list(t, leases, &out)
	slices.Sort(out)
	return slices.Compact(out)
}

func (r *rig) list(t *testing.T, of schema.GroupVersionResource, out *[]string) {
	t.Helper()
	objects, err := r.client.Resource(of).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects.Items {
		*out = append(*out, o.GetKind()+" "+o.GetName())
	}
}

func (r *rig) sync(t *testing.T) error {
	t.Helper()
	return r.controller.Sync(t.Context(), r.syncCtx)
}

// pass syncs, each time after the time that the controller asks for.
func (r *rig) pass(t *testing.T, times int) {
	t.Helper()
	for range times {
		if err := r.sync(t); err != nil {
			t.Fatal(err)
		}
		r.clock.SetTime(r.clock.Now().Add(lookAgain))
	}
}

func (r *rig) expect(t *testing.T, status operatorv1.ConditionStatus, reason, message string) {
	t.Helper()
	got := r.operator.Condition(condition.DriverRemoved)
	if got == nil || got.Status != status || got.Reason != reason || !strings.Contains(got.Message, message) {
		t.Errorf("got %+v, want %s, %s, %q", got, status, reason, message)
	}
}

func (r *rig) endPods(t *testing.T) {
	t.Helper()
	if err := r.client.Tracker().Delete(pods, driver.Namespace, "node-1"); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) expectState(t *testing.T, want operatorv1.ManagementState) {
	t.Helper()
	if got, _ := r.state.Get(); got != want {
		t.Errorf("the others are %s, want %s", got, want)
	}
}

func TestManagedTouchesNothing(t *testing.T) {
	r := newRig(t)
	before := r.there(t)
	r.pass(t, 3)
	if diff := cmp.Diff(before, r.there(t)); diff != "" || r.operator.Writes() != 0 || r.looks != 0 {
		t.Errorf("%d writes, %d looks, removed (-before):\n%s", r.operator.Writes(), r.looks, diff)
	}
	r.expectState(t, operatorv1.Managed)
}

// TestWaits: while something needs the driver, the classes alone go.
func TestWaits(t *testing.T) {
	tests := map[string]struct {
		cached, held Held
		unread       error
		reason, want string
	}{
		"Volumes":     {Held{Volumes: 2}, Held{Attachments: 1}, nil, condition.WaitingForVolumes, "2 PersistentVolumes and 1 VolumeAttachment of"},
		"OldCache":    {Held{}, Held{Volumes: 1}, nil, condition.WaitingForVolumes, "1 PersistentVolume of"},
		"Attachments": {Held{}, Held{Attachments: 3}, nil, condition.WaitingForVolumes, "3 VolumeAttachments of"},
		"Snapshots":   {Held{Snapshots: 1}, Held{}, nil, condition.WaitingForVolumes, "1 VolumeSnapshotContent of"},
		"Unread":      {Held{}, Held{}, errors.New("the CRD is being removed"), condition.SyncError, "the CRD is being removed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.pass(t, 1)
			r.declared, r.cached, r.held, r.unread = true, tc.cached, tc.held, tc.unread
			before := r.there(t)
			r.pass(t, 20)
			r.expect(t, operatorv1.ConditionFalse, tc.reason, tc.want)
			r.expectState(t, operatorv1.Managed)
			var classes []string
			for _, o := range r.objects.Classes {
				classes = append(classes, o.String())
			}
			want := slices.DeleteFunc(before, func(name string) bool { return slices.Contains(classes, name) })
			if diff := cmp.Diff(want, r.there(t)); diff != "" {
				t.Errorf("what is left (-want +got):\n%s", diff)
			}
			if r.record.class.Annotations["users"] != "annotation" || r.record.class.Labels["users"] != "label" {
				t.Errorf("remembered %+v", r.record.class)
			}
			writes := r.operator.Writes()
			if r.pass(t, 3); r.operator.Writes() != writes {
				t.Error("it writes the same again")
			}
		})
	}
}

func TestRemoves(t *testing.T) {
	r := newRig(t)
	r.pass(t, 1)
	r.declared, r.traces = true, []string{"of StorageProfile x"}
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "30s")
	r.pass(t, 2)
	r.held.Volumes = 1 // It was on its way.
	r.pass(t, 1)
	r.held.Volumes = 0
	r.pass(t, 3)
	r.expectState(t, operatorv1.Managed)
	r.pass(t, 1)
	r.expectState(t, operatorv1.Removed)
	if !slices.Contains(r.there(t), "DaemonSet "+driver.RBD.NodeName()) {
		t.Error("the others had no time to end what they are at")
	}
	r.pass(t, 2)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "Pod node-1")
	if !slices.Contains(r.there(t), "Secret "+driver.RBD.NodeSecret()) {
		t.Error("a pod that still runs uses the Secret")
	}
	r.endPods(t)
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.Removing, "of StorageProfile x")
	r.pass(t, 2)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "Managed to have the driver back")
	want := []string{"ConfigMap " + driver.RBD.StateConfigMap(), "Lease " + driver.RBD.OperatorName() + "-lock", "Secret " + driver.CredentialsSecret}
	if diff := cmp.Diff(want, r.there(t)); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	looks, writes := r.looks, r.operator.Writes()
	r.client.ClearActions()
	r.pass(t, 3)
	if r.looks != looks || r.operator.Writes() != writes || len(r.client.Actions()) > 0 {
		t.Errorf("what is done asks and writes: %v", r.client.Actions())
	}
	r.cached.Volumes = 1
	r.pass(t, 1)
	r.expect(t, operatorv1.ConditionFalse, condition.WaitingForVolumes, "1 PersistentVolume")
	r.expectState(t, operatorv1.Removed)

	r.declared = false
	r.pass(t, 1)
	r.expectState(t, operatorv1.Managed)
	if got := r.operator.Condition(condition.DriverRemoved); got != nil {
		t.Errorf("left behind: %+v", got)
	}
}

// TestRestartedAfterwards: a new process looks again, and says nothing that it does not know.
func TestRestartedAfterwards(t *testing.T) {
	r := newRig(t)
	r.declared = true
	r.endPods(t)
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	r.state.Clear()
	r.controller = New(r.config)
	writes := r.operator.Writes()
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	if r.operator.Writes() != writes {
		t.Error("it says the same again")
	}
}

// TestFails: what cannot be deleted is told, and what needs it stays.
func TestFails(t *testing.T) {
	r := newRig(t)
	r.declared = true
	refused := errors.New("VirtualMachineImages use it")
	r.client.PrependReactor("delete", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
	for range 8 {
		if err := r.sync(t); err != nil && !errors.Is(err, refused) {
			t.Fatal(err)
		}
		r.clock.SetTime(r.clock.Now().Add(lookAgain))
	}
	r.expect(t, operatorv1.ConditionFalse, condition.SyncError, "deleting StorageClass ceph-rbd")
	if !slices.Contains(r.there(t), "Deployment "+driver.RBD.ControllerName()) {
		t.Error("the class leads to volumes that nobody makes")
	}
}

// TestRememberedOnce: a controller that was about to make the class did so from what is remembered.
func TestRememberedOnce(t *testing.T) {
	r := newRig(t)
	r.record.class = state.Class{UID: "first", Annotations: map[string]string{"users": "first"}}
	r.declared, r.cached.Volumes = true, 1
	r.pass(t, 1)
	if r.record.class.UID != "first" {
		t.Errorf("forgotten for %+v", r.record.class)
	}
}

// TestForeign: what is somebody else's stays, and keeps nothing else.
func TestForeign(t *testing.T) {
	r := newRig(t)
	for _, of := range []Object{{Kind: "StorageClass", Name: driver.RBD.StorageClass}, {Kind: "CSIDriver", Name: driver.RBD.Name}} {
		foreign := live(served(of.Kind), of.Kind, "", of.Name, "app", "helm")
		foreign.SetAnnotations(nil)
		if _, err := r.client.Resource(served(of.Kind)).Update(t.Context(), foreign, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.endPods(t)
	r.declared = true
	r.pass(t, 10)
	r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
	for _, name := range []string{class, "CSIDriver " + driver.RBD.Name} {
		if !slices.Contains(r.there(t), name) {
			t.Errorf("%s of somebody else was removed", name)
		}
	}
	if !r.record.class.Empty() {
		t.Errorf("remembered %+v", r.record.class)
	}
}

// TestOptIn: rights are used while they are held, and given back last.
func TestOptIn(t *testing.T) {
	for name, bound := range map[string]bool{"Bound": true, "NotBound": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			binding := Object{Kind: "ClusterRoleBinding", Name: "modules", Mine: driver.RBD.Owns}
			policy := Object{Kind: "ValidatingAdmissionPolicy", Name: "images", Mine: driver.RBD.Owns}
			add := func(o Object) {
				if err := r.client.Tracker().Add(live(served(o.Kind), o.Kind, "", o.Name)); err != nil {
					t.Fatal(err)
				}
			}
			if bound {
				add(binding)
				add(policy)
			}
			r.config.Objects.OptIn = []OptIn{{Binding: binding, Objects: []Object{policy}}}
			r.controller = New(r.config)
			r.endPods(t)
			r.declared = true
			r.pass(t, 12)
			r.expect(t, operatorv1.ConditionTrue, condition.AsExpected, "")
			var deleted []string
			for _, a := range r.client.Actions() {
				if a.GetResource() == served(policy.Kind) && !bound {
					t.Errorf("refused: %s", a.GetVerb())
				}
				if d, ok := a.(clienttesting.DeleteAction); ok && (d.GetName() == binding.Name || d.GetName() == policy.Name) {
					deleted = append(deleted, d.GetName())
				}
			}
			if want := []string{"images", "modules"}; bound && !slices.Equal(deleted, want) || !bound && deleted != nil {
				t.Errorf("deleted %q", deleted)
			}
		})
	}
}

// served is the resource of a kind on an API server that has all at v1.
func served(kind string) schema.GroupVersionResource {
	of, _ := resource(kind, func(string) []string { return []string{"v1"} })
	return of
}
