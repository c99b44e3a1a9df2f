package infraid

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	"github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

var errBoom = errors.New("boom")

// fixture is a cluster whose Infrastructure says one infra ID, while another may be remembered.
type fixture struct {
	t          *testing.T
	said       externalversions.SharedInformerFactory
	remembered *state.InfraID
	unreadable error
	synced     bool
	operator   *conditiontest.Operator
	cluster    ctrl.Latest[ceph.Cluster]
	saves      int
}

func newFixture(t *testing.T, said string, remembered *state.InfraID) *fixture {
	f := &fixture{
		t: t, said: externalversions.NewSharedInformerFactory(configfake.NewSimpleClientset(), 0), remembered: remembered, synced: true,
		operator: conditiontest.New(operatorv1.Managed),
	}
	f.says(said)
	f.cluster.Set(ceph.Cluster{FSID: "f"})
	return f
}

func (f *fixture) says(id string) {
	f.t.Helper()
	err := f.said.Config().V1().Infrastructures().Informer().GetIndexer().Update(&configv1.Infrastructure{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     configv1.InfrastructureStatus{InfrastructureName: id, ControlPlaneTopology: configv1.SingleReplicaTopologyMode},
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) memory() Memory {
	return Memory{
		Load: func() (state.InfraID, bool, error) {
			if f.remembered == nil {
				return state.InfraID{}, false, f.unreadable
			}
			return *f.remembered, true, f.unreadable
		},
		Synced: func() bool { return f.synced },
	}
}

func (f *fixture) sync() error {
	c := New(Config{Env: ctrl.Env{ConfigMaps: informers.NewSharedInformerFactory(kubefake.NewClientset(), 0).Core().V1().ConfigMaps(), Driver: driver.RBD, Operator: f.operator, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{})},
		Said: f.said.Config().V1().Infrastructures(), Memory: f.memory(), Cluster: &f.cluster,
		Save: func(_ context.Context, id state.InfraID) error {
			f.remembered, f.saves = &id, f.saves+1
			return nil
		},
	})
	return c.Sync(f.t.Context(), factory.NewSyncContext("test", events.NewInMemoryRecorder("test", clock.RealClock{})))
}

func TestRemember(t *testing.T) {
	tests := map[string]struct {
		reason     string
		said       string
		remembered *state.InfraID
		unreadable error
		unsynced   bool
		want       string
		err        error
	}{
		"First":      {reason: "nothing is remembered", said: "a", want: "a"},
		"Same":       {reason: "as always", said: "a", remembered: &state.InfraID{ID: "a"}, want: "a"},
		"Another":    {reason: "what is in Ceph carries the old one", said: "b", remembered: &state.InfraID{ID: "a"}, want: "a"},
		"Gone":       {reason: "a restored resource has no status", remembered: &state.InfraID{ID: "a"}, want: "a"},
		"Empty":      {reason: "that is nobody's", said: "a", remembered: &state.InfraID{}, want: "a"},
		"Unreadable": {reason: "it is not nothing", said: "b", unreadable: errBoom, err: errBoom},
		"NotRead":    {reason: "another one may be remembered", said: "b", unsynced: true, err: errNotRead},
	}
	for label, tc := range tests {
		t.Run(label, func(t *testing.T) {
			f := newFixture(t, tc.said, tc.remembered)
			f.unreadable, f.synced = tc.unreadable, !tc.unsynced
			infrastructures := Remember(f.said, f.memory()).Config().V1().Infrastructures()
			got, err := infrastructures.Lister().Get(name)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if err != nil {
				return
			}
			if got.Status.InfrastructureName != tc.want || got.Status.ControlPlaneTopology != configv1.SingleReplicaTopologyMode {
				t.Errorf("%s: %+v", tc.reason, got.Status)
			}
			said, err := f.said.Config().V1().Infrastructures().Lister().Get(name)
			if err != nil || said.Status.InfrastructureName != tc.said {
				t.Errorf("%s: the cache was changed: %+v, %v", tc.reason, said, err)
			}
		})
	}
}

func TestInformerWaits(t *testing.T) {
	f := newFixture(t, "a", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.synced = false
	informer := Remember(f.said, f.memory()).Config().V1().Infrastructures().Informer()
	noop := func(context.Context, factory.SyncContext) error { return nil }
	factory.New().WithSync(noop).WithInformers(informer).ToController("Any", events.NewInMemoryRecorder("test", clock.RealClock{}))
	f.said.Start(ctx.Done())
	f.said.WaitForCacheSync(ctx.Done())
	if informer.HasSynced() {
		t.Error("what is remembered has not been read")
	}
	f.synced = true
	if !informer.HasSynced() {
		t.Error("all is read")
	}
}

func TestRemembersOnce(t *testing.T) {
	f := newFixture(t, "a", nil)
	f.cluster.Clear()
	if err := f.sync(); err != nil || f.saves != 0 {
		t.Errorf("without a Ceph cluster nothing carries it: %d, %v", f.saves, err)
	}
	f.cluster.Set(ceph.Cluster{FSID: "f"})
	f.operator.SetState(operatorv1.Unmanaged)
	if err := f.sync(); err != nil || f.saves != 0 {
		t.Errorf("Unmanaged: %d, %v", f.saves, err)
	}
	f.operator.SetState(operatorv1.Managed)
	for range 3 {
		if err := f.sync(); err != nil || f.saves != 1 || f.remembered.ID != "a" {
			t.Errorf("remembered %v, %d times, %v", f.remembered, f.saves, err)
		}
	}
	f.says("b")
	if err := f.sync(); err != nil || f.saves != 1 {
		t.Errorf("remembered %v, %d times, %v", f.remembered, f.saves, err)
	}
	f.unreadable = errBoom
	if err := f.sync(); !errors.Is(err, errBoom) || f.saves != 1 {
		t.Errorf("%d, %v", f.saves, err)
	}
}

func TestChangedInfraID(t *testing.T) {
	for _, said := range []string{"b", ""} {
		f := newFixture(t, said, &state.InfraID{ID: "a"})
		if err := f.sync(); err != nil {
			t.Fatal(err)
		}
		c := f.operator.Condition(condition.InfraIDCurrent)
		if c == nil || c.Status != operatorv1.ConditionFalse || c.Reason != condition.InfraIDChanged {
			t.Fatalf("condition %+v", c)
		}
		for _, part := range []string{`"` + said + `"`, `"a"`, "oc patch infrastructure cluster --subresource=status", "ceph-rbd-csi-driver-state", "/data/infraID"} {
			if !strings.Contains(c.Message, part) {
				t.Errorf("message %q lacks %q", c.Message, part)
			}
		}
		f.says("a")
		if err := f.sync(); err != nil || f.operator.Condition(condition.InfraIDCurrent) != nil {
			t.Errorf("put back: %+v, %v", f.operator.Condition(condition.InfraIDCurrent), err)
		}
	}
}

// TestChangedInfraIDInAShell: the command is pasted into one, and says JSON, whatever a person called the cluster.
func TestChangedInfraIDInAShell(t *testing.T) {
	const id = `it's "mine" $(reboot)`
	f := newFixture(t, "b", &state.InfraID{ID: id})
	if err := f.sync(); err != nil {
		t.Fatal(err)
	}
	said := f.operator.Condition(condition.InfraIDCurrent).Message
	_, command, _ := strings.Cut(said, "Put the name back: oc patch infrastructure cluster --subresource=status --type=merge -p ")
	command, _, _ = strings.Cut(command, ". If nothing")
	out, err := exec.Command("sh", "-c", "printf %s "+command).CombinedOutput()
	var patch struct {
		Status struct{ InfrastructureName string }
	}
	if err != nil || json.Unmarshal(out, &patch) != nil || patch.Status.InfrastructureName != id {
		t.Errorf("a shell makes %q of %s: %v", out, command, err)
	}
}

func remembers(d driver.Driver, content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: d.StateConfigMap()},
		Data:       map[string]string{state.InfraIDKey: content},
	}
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		want    string
		err     string
	}{
		"Nothing":    {reason: "a new cluster is what it says", want: "said"},
		"One":        {reason: "what is in Ceph carries it", objects: []runtime.Object{remembers(driver.CephFS, `{"id":"old"}`)}, want: "old"},
		"Both":       {reason: "they agree", objects: []runtime.Object{remembers(driver.RBD, `{"id":"old"}`), remembers(driver.CephFS, `{"id":"old"}`)}, want: "old"},
		"TwoIDs":     {reason: "one is wrong", objects: []runtime.Object{remembers(driver.RBD, `{"id":"old"}`), remembers(driver.CephFS, `{"id":"older"}`)}, err: `ceph-rbd-csi-driver-state remembers the infra ID "old", and ceph-cephfs-csi-driver-state "older"`},
		"Unreadable": {reason: "it is not nothing", objects: []runtime.Object{remembers(driver.RBD, `{"id":`)}, err: `key "infraID" of ConfigMap openshift-cluster-csi-drivers/ceph-rbd-csi-driver-state is not readable`},
	}
	for label, tc := range tests {
		t.Run(label, func(t *testing.T) {
			got, err := Read(t.Context(), kubefake.NewClientset(tc.objects...), "said")
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %q, %v", tc.reason, got, err)
			}
		})
	}
}
