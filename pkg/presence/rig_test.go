package presence

import (
	"context"
	"slices"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const (
	infraID = "infra-x7k2p"
	object  = "running.infra-x7k2p.rbd"
)

// rig is an operator of RBD. Several share a Ceph cluster and a clock.
type rig struct {
	t          *testing.T
	ceph       *cephtest.Cluster
	client     *cephtest.Client
	operator   *conditiontest.Operator
	config     Config
	controller factory.Controller
	clock      *clocktesting.FakeClock
	events     events.InMemoryRecorder
}

func newCeph() *cephtest.Cluster {
	c := cephtest.New()
	for _, name := range []string{"a", "b", "c"} {
		c.AddPool(ceph.Pool{Name: name, Applications: []string{"rbd"}})
	}
	return c
}

func newRig(t *testing.T, c *cephtest.Cluster, clock *clocktesting.FakeClock, host string) *rig {
	t.Helper()
	informers := configinformers.NewSharedInformerFactory(configfake.NewSimpleClientset(), 0)
	err := informers.Config().V1().Infrastructures().Informer().GetIndexer().Add(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Status: configv1.InfrastructureStatus{InfrastructureName: infraID},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, ceph: c, operator: conditiontest.New(operatorv1.Managed), clock: clock, events: events.NewInMemoryRecorder("test", clock)}
	r.connect("admin")
	r.config = Config{Env: ctrl.Env{Driver: driver.RBD, Operator: r.operator, Infrastructures: informers.Config().V1().Infrastructures(), Recorder: r.events, Clock: clock},
		Client:   func(string) (Cluster, bool) { return r.client, r.client != nil },
		Clusters: &ctrl.Latest[[]ceph.Cluster]{},
		Used:     &ctrl.Latest[map[string][]string]{},
		Host:     host,
	}
	r.config.Clusters.Set([]ceph.Cluster{{FSID: cephtest.FSID, Credentials: ceph.Credentials{UserID: "u"}}})
	r.controller = New(r.config)
	return r
}

func newClock() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
}

func (r *rig) connect(user string) {
	r.t.Helper()
	source := r.ceph.Source()
	source.Credentials = r.ceph.Credentials(user)
	client, err := r.ceph.Dial(r.t.Context(), source)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.client != nil {
		r.client.Close()
	}
	r.client = client
}

func (r *rig) use(pools ...string) {
	r.t.Helper()
	r.config.Used.Set(map[string][]string{cephtest.FSID: pools})
	r.sync()
}

func (r *rig) sync() {
	r.t.Helper()
	if err := r.controller.Sync(r.t.Context(), factory.NewSyncContext("test", r.config.Recorder)); err != nil {
		r.t.Fatal(err)
	}
}

// watched are the pools in which somebody watches the operator's object.
func (r *rig) watched() []string {
	r.t.Helper()
	source := r.ceph.Source()
	admin, err := r.ceph.Dial(context.Background(), source)
	if err != nil {
		r.t.Fatal(err)
	}
	defer admin.Close()
	var out []string
	for _, p := range r.ceph.Pools() {
		found, err := admin.Watchers(r.t.Context(), p.Name, object)
		if err != nil {
			r.t.Fatal(err)
		}
		for range found {
			out = append(out, p.Name)
		}
	}
	return out
}

func (r *rig) expectWatched(reason string, pools ...string) {
	r.t.Helper()
	if got := r.watched(); !slices.Equal(got, pools) {
		r.t.Errorf("%s: watched in %q, want %q", reason, got, pools)
	}
}
