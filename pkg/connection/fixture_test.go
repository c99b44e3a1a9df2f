package connection

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const otherFSID = "c0ffee00-0000-4000-8000-000000000002"

// fixture is a Connection of the RBD driver between a Ceph cluster and an API server, both
// in memory. Informers are filled by hand.
type fixture struct {
	t           *testing.T
	ceph        *cephtest.Cluster
	kube        *fake.Clientset
	informers   informers.SharedInformerFactory
	operator    *operatorClient
	clock       *clocktesting.FakeClock
	recorder    events.InMemoryRecorder
	named       string
	rook        string
	settingsErr error
	wanted      bool
	undecided   bool
	mu          sync.Mutex // guards attempts and dialed
	further     []*cephtest.Cluster
	attempts    int
	dialed      []*cephtest.Client
	ctx         context.Context
	conn        *Connection[*cephtest.Client]
}

// operatorClient is library-go's fake, which can also be without its CR.
type operatorClient struct {
	v1helpers.OperatorClient
	spec *operatorv1.OperatorSpec
	gone bool
}

func (o *operatorClient) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	if o.gone {
		return nil, nil, "", apierrors.NewNotFound(operatorv1.Resource("clustercsidrivers"), driver.RBD.Name)
	}
	return o.OperatorClient.GetOperatorState()
}

func newFixture(t *testing.T) *fixture {
	spec := &operatorv1.OperatorSpec{ManagementState: operatorv1.Managed}
	f := &fixture{
		t: t, ctx: t.Context(), ceph: cephtest.New(), kube: fake.NewClientset(),
		operator: &operatorClient{v1helpers.NewFakeOperatorClient(spec, &operatorv1.OperatorStatus{}, nil), spec, false},
		clock:    clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)),
	}
	f.recorder = events.NewInMemoryRecorder("test", f.clock)
	f.informers = informers.NewSharedInformerFactory(f.kube, 0)
	f.restart()
	return f
}

// restart is a new process: it knows nothing but what is in the API.
func (f *fixture) restart() {
	f.dialed = nil
	f.conn = New(Config[*cephtest.Client]{Env: ctrl.Env{
		Driver: driver.RBD, Operator: f.operator, Kube: f.kube, Secrets: f.informers.Core().V1().Secrets(), ConfigMaps: f.informers.Core().V1().ConfigMaps(),
		Clock: f.clock, Recorder: f.recorder,
		Settings: func() (driver.Settings, error) {
			return driver.Settings{Cluster: f.named, RookNamespace: f.rook}, f.settingsErr
		},
	},
		Dial: f.dial,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return nil, errors.New("read udp 10.128.0.7:40404->172.30.0.10:53: i/o timeout")
		},
		Wanted: func() (bool, bool) { return f.wanted, !f.undecided },
	})
}

// admin is the Secret that the administrator of the Ceph cluster would make.
func (f *fixture) admin() map[string][]byte {
	return declaration(f.ceph)
}

// secret creates or changes Secret ceph-credentials; nil deletes it.
func (f *fixture) secret(data map[string][]byte) {
	f.put(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: SecretName}, Data: data})
}

func (f *fixture) put(object *corev1.Secret) {
	indexer := f.informers.Core().V1().Secrets().Informer().GetIndexer()
	write := indexer.Update
	if object.Data == nil {
		write = indexer.Delete
	}
	if err := write(object); err != nil {
		f.t.Fatal(err)
	}
}

// recorded sets key "cluster" of the state ConfigMap; "" removes it.
func (f *fixture) recorded(record string) {
	configMaps := f.kube.CoreV1().ConfigMaps(driver.Namespace)
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.StateConfigMap()},
		Data:       map[string]string{"version": "1"},
	}
	if record != "" {
		object.Data["cluster"] = record
	}
	_ = configMaps.Delete(context.Background(), object.Name, metav1.DeleteOptions{})
	if _, err := configMaps.Create(context.Background(), object, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.observe()
	f.kube.ClearActions()
}

// observe brings the informer of ConfigMaps up to date.
func (f *fixture) observe() {
	object, err := f.kube.CoreV1().ConfigMaps(driver.Namespace).Get(context.Background(), driver.RBD.StateConfigMap(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.informers.Core().V1().ConfigMaps().Informer().GetIndexer().Update(object); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) sync() {
	f.t.Helper()
	if err := f.run(f.ctx); err != nil {
		f.t.Errorf("sync: %v", err)
	}
	f.observe()
	f.scan()
}

// pass lets time go by, with a sync each 5 seconds.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	for ; d > 0; d -= pollInterval {
		f.clock.Step(pollInterval)
		f.sync()
	}
}

// writes counts the requests that changed something in the API, but conditions.
func (f *fixture) writes() int {
	n := 0
	for _, a := range f.kube.Actions() {
		if a.GetVerb() != "get" && a.GetVerb() != "list" && a.GetVerb() != "watch" {
			n++
		}
	}
	return n
}

// degraded is the condition; zero when it was never written.
func (f *fixture) degraded() operatorv1.OperatorCondition {
	return f.condition(condition.ConnectionDegraded)
}

func (f *fixture) condition(kind string) operatorv1.OperatorCondition {
	_, status, _, err := f.operator.OperatorClient.GetOperatorState()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return operatorv1.OperatorCondition{}
}

// scan fails the test when a key is in a condition, an event or a request.
func (f *fixture) scan() {
	f.t.Helper()
	_, status, _, _ := f.operator.OperatorClient.GetOperatorState()
	seen, err := json.Marshal([]any{status, f.recorder.Events(), f.kube.Actions()})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, user := range []string{"admin", "weak"} {
		if key := f.ceph.Credentials(user).Key.Reveal(); key != "" && strings.Contains(string(seen), key) {
			f.t.Errorf("the key of client.%s is in %s", user, seen)
		}
	}
}

// alive says whether Client gives a session that Ceph answers.
func (f *fixture) alive() bool {
	client, ok := f.client()
	if !ok {
		return false
	}
	_, err := client.MonMap(f.ctx)
	return err == nil
}
