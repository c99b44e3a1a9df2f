package credentials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/latest"
)

const (
	secretKey = "AQBvcGVuLXNlc2FtZS1vcGVuLXNlc2FtZS1vcGVu"
	otherKey  = "AQBhbm90aGVyLXNlc2FtZS1hbm90aGVyLXNlc2Ft"
)

var errBoom = errors.New("boom")

var admin = ceph.Credentials{UserID: "admin", Key: ceph.NewKey(secretKey)}

type fixture struct {
	t          *testing.T
	kube       *fake.Clientset
	secrets    cache.Indexer
	operator   v1helpers.OperatorClient
	spec       *operatorv1.OperatorSpec
	cluster    latest.Value[ceph.Cluster]
	recorder   events.InMemoryRecorder
	controller factory.Controller
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{
		t: t, kube: fake.NewClientset(), spec: &operatorv1.OperatorSpec{ManagementState: operatorv1.Managed},
		recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}
	f.operator = v1helpers.NewFakeOperatorClient(f.spec, &operatorv1.OperatorStatus{}, nil)
	secrets := informers.NewSharedInformerFactory(f.kube, 0).Core().V1().Secrets()
	f.secrets = secrets.Informer().GetIndexer()
	f.controller = New(Config{
		Driver: driver.RBD, Operator: f.operator, Client: f.kube.CoreV1(), Secrets: secrets,
		Cluster: &f.cluster, Recorder: f.recorder,
	})
	return f
}

// sync runs the controller once, brings the informer up to date, and returns the users in
// the Secrets as "userID/userKey" by the Secrets' names.
func (f *fixture) sync() map[string]string {
	f.t.Helper()
	if err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder)); err != nil {
		f.t.Fatal(err)
	}
	list, err := f.kube.CoreV1().Secrets(driver.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range list.Items {
		if err := f.secrets.Update(s.DeepCopy()); err != nil {
			f.t.Fatal(err)
		}
		got[s.Name] = fmt.Sprintf("%s/%s", s.Data["userID"], s.Data["userKey"])
	}
	f.scan()
	return got
}

// scan fails the test when a key is in a condition or an event.
func (f *fixture) scan() {
	f.t.Helper()
	_, status, _, _ := f.operator.GetOperatorState()
	seen, err := json.Marshal([]any{status, f.recorder.Events()})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, key := range []string{secretKey, otherKey} {
		if strings.Contains(string(seen), key) {
			f.t.Errorf("a key is in %s", seen)
		}
	}
}

func (f *fixture) condition() (out operatorv1.OperatorCondition) {
	_, status, _, _ := f.operator.GetOperatorState()
	for _, c := range status.Conditions {
		if c.Type == condition.CredentialsDegraded {
			return c
		}
	}
	return out
}

func TestFollowsTheConnection(t *testing.T) {
	f := newFixture(t)
	both := func(user string) map[string]string {
		return map[string]string{"ceph-rbd-csi-provisioner": user, "ceph-rbd-csi-node": user}
	}
	if got := f.sync(); len(got) != 0 {
		t.Errorf("Secrets before any Ceph cluster was known: %v", got)
	}
	f.cluster.Set(ceph.Cluster{FSID: "f1", Credentials: admin})
	if diff := cmp.Diff(both("admin/"+secretKey), f.sync()); diff != "" {
		t.Errorf("first: -want +got:\n%s", diff)
	}
	f.cluster.Set(ceph.Cluster{FSID: "f1", Credentials: ceph.Credentials{UserID: "csi", Key: ceph.NewKey(otherKey)}})
	if diff := cmp.Diff(both("csi/"+otherKey), f.sync()); diff != "" {
		t.Errorf("another user: -want +got:\n%s", diff)
	}
	if c := f.condition(); c.Status != operatorv1.ConditionFalse || c.Reason != condition.AsExpected {
		t.Errorf("condition %v", c)
	}

	events := len(f.recorder.Events())
	f.kube.ClearActions()
	if err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder)); err != nil {
		t.Fatal(err)
	}
	if n := len(f.kube.Actions()); n != 0 || len(f.recorder.Events()) != events {
		t.Errorf("a sync without change: %d requests, %d events", n, len(f.recorder.Events())-events)
	}
	f.cluster.Clear()
	if diff := cmp.Diff(both("csi/"+otherKey), f.sync()); diff != "" {
		t.Errorf("nothing known: -want +got:\n%s", diff)
	}
}

// The whole way: a user's edit, an added key too, is undone.
func TestEditsAreUndone(t *testing.T) {
	f := newFixture(t)
	f.cluster.Set(ceph.Cluster{FSID: "f1", Credentials: admin})
	want := f.sync()
	secrets := f.kube.CoreV1().Secrets(driver.Namespace)
	edited, err := secrets.Get(context.Background(), driver.RBD.NodeSecret(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edited.Data = map[string][]byte{"userID": []byte("x"), "adminID": []byte("y")}
	if edited, err = secrets.Update(context.Background(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := f.secrets.Update(edited); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, f.sync()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	after, err := secrets.Get(context.Background(), driver.RBD.NodeSecret(), metav1.GetOptions{})
	if err != nil || len(after.Data) != 2 {
		t.Errorf("%d keys in the Secret, want 2 (%v)", len(after.Data), err)
	}
}

func TestUnmanaged(t *testing.T) {
	f := newFixture(t)
	f.spec.ManagementState = operatorv1.Unmanaged
	f.cluster.Set(ceph.Cluster{FSID: "f1", Credentials: admin})
	if got := f.sync(); len(got) != 0 {
		t.Errorf("Unmanaged: Secrets %v were written", got)
	}
	if c := f.condition(); c.Status != operatorv1.ConditionFalse {
		t.Errorf("condition %v", c)
	}
}

func TestWriteFails(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("secrets"), driver.RBD.NodeSecret(), errBoom)
	tests := map[string]struct {
		reason string
		err    error
		want   operatorv1.ConditionStatus
	}{
		"Refused":  {"a person has to know", errBoom, operatorv1.ConditionTrue},
		"Conflict": {"the next try mends it; the condition must not flap", conflict, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.cluster.Set(ceph.Cluster{FSID: "f1", Credentials: admin})
			f.kube.PrependReactor("create", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder))
			if !errors.Is(err, tc.err) || strings.Contains(err.Error(), secretKey) {
				t.Errorf("%s: error %v, want %v", tc.reason, err, tc.err)
			}
			if got := f.condition(); got.Status != tc.want {
				t.Errorf("%s: condition %v, want status %q", tc.reason, got, tc.want)
			}
			f.scan()
		})
	}
}
