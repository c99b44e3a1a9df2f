package status

import (
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// rig runs syncs by hand on a clock of its own.
type rig struct {
	*controller
	kube  *fake.Clientset
	clock *clocktesting.FakeClock
}

func newRig(t *testing.T, state operatorv1.ManagementState) *rig {
	t.Helper()
	kube := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(kube, 0)
	clock := clocktesting.NewFakeClock(time.Now())
	c := &controller{Config: Config{Env: ctrl.Env{
		Driver: driver.RBD, Operator: conditiontest.New(state), Kube: kube, ConfigMaps: factory.Core().V1().ConfigMaps(), Clock: clock,
		Recorder: events.NewInMemoryRecorder("test", clock),
	},
		Sources: newSources(),
	}}
	return &rig{c, kube, clock}
}

// run syncs after a while, and returns what is written then; the cache follows.
func (r *rig) run(t *testing.T, after time.Duration) string {
	t.Helper()
	r.clock.SetTime(r.clock.Now().Add(after))
	if err := r.WithCR(r.sync)(t.Context(), factory.NewSyncContext(controllerName, r.Recorder)); err != nil {
		t.Fatal(err)
	}
	held, err := r.kube.CoreV1().ConfigMaps(driver.Namespace).Get(t.Context(), driver.RBD.StatusConfigMap(), metav1.GetOptions{})
	if err != nil {
		return ""
	}
	if err := r.ConfigMaps.Informer().GetStore().Add(held); err != nil {
		t.Fatal(err)
	}
	return held.Data[key]
}

func (r *rig) writes() int {
	n := 0
	for _, action := range r.kube.Actions() {
		if action.GetVerb() != "get" {
			n++
		}
	}
	return n
}

func TestWrittenOnceAfterItSettled(t *testing.T) {
	r := newRig(t, operatorv1.Managed)
	if r.run(t, time.Hour) != "" {
		t.Error("nothing is known, nothing is written: an earlier text stays")
	}
	r.Clusters.Set([]ceph.Cluster{cluster(t, "f1", 1)})
	for range 3 {
		if r.run(t, settle/4) != "" {
			t.Error("a start tells more in a moment")
		}
	}
	r.tellAll(t, r.clock.Now())
	if r.run(t, settle) != "" {
		t.Error("the text has changed just now")
	}
	if got := r.run(t, settle); got != everything {
		t.Errorf("got %s", got)
	}
	r.run(t, time.Hour)
	if r.writes() != 1 {
		t.Errorf("%d writes, want one", r.writes())
	}
}

// Volumes may come and go without end.
func TestWrittenThoughItNeverSettles(t *testing.T) {
	r := newRig(t, operatorv1.Managed)
	r.Clusters.Set([]ceph.Cluster{cluster(t, "f1", 1)})
	for i := range 40 {
		r.Usage.Set(usage.Usage{Legacy: []usage.Legacy{{Volumes: i}}})
		r.run(t, settle-time.Second)
	}
	if r.writes() != 1 {
		t.Errorf("%d writes in 80 seconds, want one", r.writes())
	}
}

func TestUnmanagedWritesNothing(t *testing.T) {
	r := newRig(t, operatorv1.Unmanaged)
	r.tellAll(t, r.clock.Now())
	r.run(t, 0)
	r.run(t, time.Hour)
	if r.writes() != 0 {
		t.Errorf("%d writes", r.writes())
	}
}
