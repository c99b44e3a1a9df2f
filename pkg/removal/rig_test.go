package removal

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// memory is a record.
type memory struct{ class state.Class }

func (m *memory) Read(context.Context) (state.Class, bool, error) {
	return m.class, !m.class.Empty(), nil
}

func (m *memory) Save(_ context.Context, value state.Class) error {
	m.class = value
	return nil
}

// rig is a cluster with everything of the RBD driver.
type rig struct {
	config       Config
	controller   *Controller
	syncCtx      factory.SyncContext
	operator     *conditiontest.Operator
	client       *dynamicfake.FakeDynamicClient
	clock        *clocktesting.FakeClock
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

// leaseOfOther is of a sidecar of another driver, whose name ends like ours.
const leaseOfOther = "external-attacher-leader-openshift-storage-rbd-csi-ceph-com"

func newRig(t *testing.T) *rig {
	t.Helper()
	objects, _ := objectsOf(t, driver.RBD)
	r := &rig{
		operator: conditiontest.New(operatorv1.Managed), clock: clocktesting.NewFakeClock(time.Unix(1000, 0)),
		state: &ctrl.Latest[operatorv1.ManagementState]{}, record: &memory{}, objects: objects,
	}
	served := func(string) []string { return []string{"v1"} }
	kinds := map[schema.GroupVersionResource]string{
		pods: "PodList", Native["ValidatingAdmissionPolicy"]: "ValidatingAdmissionPolicyList",
	}
	var existing []runtime.Object
	for _, o := range slices.Concat(objects.Classes, objects.Workloads, objects.Rest) {
		of, _ := resource(o.Kind, served)
		kinds[of] = o.Kind + "List"
		existing = append(existing, live(of, o.Kind, o.Namespace, o.Name))
	}
	existing = append(existing, live(pods, "Pod", driver.Namespace, "node-1", "app", driver.RBD.NodeName()),
		live(Native["Lease"], "Lease", driver.Namespace, driver.RBD.OperatorName()+"-lock"),
		live(Native["Lease"], "Lease", driver.Namespace, leaseOfOther),
		live(Native["Secret"], "Secret", driver.Namespace, driver.CredentialsSecret),
		live(Native["ConfigMap"], "ConfigMap", driver.Namespace, driver.RBD.StateConfigMap()))
	r.client = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, existing...)
	recorder := events.NewInMemoryRecorder("test", r.clock)
	kube := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	r.syncCtx = factory.NewSyncContext("test", recorder)
	r.config = Config{Env: ctrl.Env{
		Deployments: kube.Apps().V1().Deployments(), DaemonSets: kube.Apps().V1().DaemonSets(), ConfigMaps: kube.Core().V1().ConfigMaps(),
		PersistentVolumes: kube.Core().V1().PersistentVolumes(), CRDs: &ctrl.Latest[bool]{},
		ClusterCSIDrivers: operatorinformers.NewSharedInformerFactory(nil, 0).Operator().V1().ClusterCSIDrivers(),
		Driver:            driver.RBD, Operator: r.operator, Dynamic: r.client, Served: served, Clock: r.clock, Recorder: recorder, Remembering: &sync.Mutex{}},
		Objects: objects,
		Sight:   r,
		Records: map[string]Record{class: r.record},
		TakeBack: func(context.Context) ([]string, error) {
			out := r.traces
			r.traces = nil
			return out, nil
		},
		State: r.state,
	}
	r.controller = New(r.config)
	return r
}

func (r *rig) Declared() (bool, error)                  { return r.declared, nil }
func (r *rig) Cached() (Held, error)                    { return r.cached, nil }
func (r *rig) Attachments(context.Context) (int, error) { return r.held.Attachments, r.unread }

func (r *rig) Deployed() (bool, error) {
	_, err := r.client.Tracker().Get(Native["DaemonSet"], driver.Namespace, driver.RBD.NodeName())
	return err == nil, nil
}

func (r *rig) Look(context.Context) (Held, error) {
	r.looks++
	return r.held, r.unread
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
