package nodes

import (
	"context"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// rig is a controller of a DaemonSet whose nodes are what a test says.
type rig struct {
	*Controller
	operator  *conditiontest.Operator
	now       *clocktesting.FakeClock
	daemonSet *appsv1.DaemonSet
	// registered is how many kubelets know the driver, found what a look finds, and looks how many there were.
	registered int
	found      Found
	looks      int
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		operator: conditiontest.New(operatorv1.Managed), now: clocktesting.NewFakeClock(time.Unix(1000, 0)),
		daemonSet: &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: driver.RBD.NodeName(), Namespace: driver.Namespace}},
	}
	informer := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Apps().V1().DaemonSets()
	if err := informer.Informer().GetStore().Add(r.daemonSet); err != nil {
		t.Fatal(err)
	}
	r.Controller = &Controller{Config: Config{Env: ctrl.Env{
		Driver: driver.RBD, Operator: r.operator, DaemonSets: informer, Clock: r.now, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}}}
	r.start()
	return r
}

// start is a process that remembers nothing.
func (r *rig) start() {
	r.Controller = &Controller{
		Config: r.Config, name: "test", spells: spells{},
		registered: func() (int, error) { return r.registered, nil },
		find:       func(context.Context, *appsv1.DaemonSet) (Found, error) { r.looks++; return r.found, nil },
	}
}

// set has kubelets of all nodes know the driver.
func (r *rig) set(uid types.UID, desired, available int32, unserved []Unserved) {
	r.daemonSet.UID, r.found, r.registered = uid, Found{Unserved: unserved}, int(desired)
	r.daemonSet.Status.DesiredNumberScheduled, r.daemonSet.Status.NumberAvailable = desired, available
}

func (r *rig) look(t *testing.T, after time.Duration) {
	t.Helper()
	r.now.Step(after)
	if err := r.sync(t.Context(), factory.NewSyncContext("test", r.Recorder), operatorv1.Managed); err != nil {
		t.Fatal(err)
	}
}

// served is the condition of that; empty while it is absent.
func (r *rig) served() operatorv1.OperatorCondition {
	if said := r.operator.Condition(condition.NodesServed); said != nil {
		return *said
	}
	return operatorv1.OperatorCondition{}
}

func (r *rig) degraded() bool {
	said := r.operator.Condition(condition.NodesDegraded)
	return said != nil && said.Status == operatorv1.ConditionTrue
}
