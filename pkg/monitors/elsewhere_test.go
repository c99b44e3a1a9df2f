package monitors

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const theirNamespace = "ceph-csi"

// outside is the controller of somebody else's objects, with a Ceph cluster that is connected.
type outside struct {
	t          *testing.T
	kube       *fake.Clientset
	operator   *conditiontest.Operator
	ceph       *cephtest.Cluster
	clusters   ctrl.Latest[[]ceph.Cluster]
	settings   driver.Settings
	controller factory.Controller
	recorder   events.InMemoryRecorder
}

func newOutside(t *testing.T, objects ...runtime.Object) *outside {
	o := &outside{t: t, kube: fake.NewClientset(objects...), operator: conditiontest.New(operatorv1.Managed), ceph: cephtest.New(),
		recorder: events.NewInMemoryRecorder("test", clock.RealClock{})}
	o.settings.OutOfBand = []driver.Target{{Namespace: theirNamespace, ConfigMap: "ceph-csi-config"}}
	classes := informers.NewSharedInformerFactory(o.kube, 0).Storage().V1().StorageClasses()
	for _, object := range objects {
		if class, ok := object.(*storagev1.StorageClass); ok {
			if err := classes.Informer().GetIndexer().Add(class); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.controller = NewElsewhere(ElsewhereConfig{Env: ctrl.Env{
		Driver: driver.RBD, Operator: o.operator, Kube: o.kube, StorageClasses: classes, Settings: func() (driver.Settings, error) { return o.settings, nil },
		Recorder: o.recorder,
	},
		Clusters: &o.clusters,
	})
	o.publish()
	return o
}

func (o *outside) publish() {
	m := o.ceph.MonMap()
	o.clusters.Set([]ceph.Cluster{{FSID: m.FSID, MonMap: m}})
}

func (o *outside) sync() {
	o.t.Helper()
	if err := o.controller.Sync(context.Background(), factory.NewSyncContext("test", o.recorder)); err != nil {
		o.t.Fatal(err)
	}
}

func (o *outside) wantCondition(reason, want string, fragments ...string) {
	o.t.Helper()
	c := operatorv1.OperatorCondition{}
	if written := o.operator.Condition(condition.OutOfBandCurrent); written != nil {
		c = *written
	}
	if got := string(c.Status) + "/" + c.Reason; got != want {
		o.t.Errorf("%s: condition %s %q, want %s", reason, got, c.Message, want)
	}
	for _, s := range fragments {
		if !strings.Contains(c.Message, s) {
			o.t.Errorf("%s: message %q lacks %q", reason, c.Message, s)
		}
	}
}

func (o *outside) configJSON() string {
	o.t.Helper()
	object, err := o.kube.CoreV1().ConfigMaps(theirNamespace).Get(context.Background(), "ceph-csi-config", metav1.GetOptions{})
	if err != nil {
		o.t.Fatal(err)
	}
	if object.Data["other"] != "kept" {
		o.t.Errorf("another key was changed: %v", object.Data)
	}
	return object.Data["config.json"]
}

func theirConfigMap(content string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: theirNamespace, Name: "ceph-csi-config"},
		Data: map[string]string{"config.json": content, "other": "kept"}}
}

const theirs = `[ {"clusterID":"elsewhere", "monitors":["1.1.1.1:6789"]},
  {"monitors": ["10.20.0.2:6789"], "clusterID": "` + cephtest.FSID + `", "x": 1} ]`

func TestOutOfBandFollows(t *testing.T) {
	o := newOutside(t, theirConfigMap(theirs))
	o.sync()
	if got := o.configJSON(); got != theirs {
		t.Errorf("written although current: %s", got)
	}
	o.ceph.AddMon("b")
	o.publish()
	conflicts := 2
	o.kube.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		conflicts--
		return conflicts >= 0, nil, apierrors.NewConflict(corev1.Resource("configmaps"), "ceph-csi-config", errors.New("the other operator was first"))
	})
	o.sync()
	want := strings.Replace(theirs, `["10.20.0.2:6789"]`, `["10.20.0.2:6789","10.20.0.3:6789"]`, 1)
	if got := o.configJSON(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o.wantCondition("current", "True/AsExpected")
	o.kube.ClearActions()
	seen := len(o.recorder.Events())
	o.sync()
	if n := len(o.kube.Actions()); n != 1 || len(o.recorder.Events()) != seen || seen != 1 {
		t.Errorf("a sync without change: %v, %d events", o.kube.Actions(), len(o.recorder.Events()))
	}
	o.operator.SetState(operatorv1.Unmanaged)
	o.ceph.AddMon("c")
	o.publish()
	o.sync()
	if got := o.configJSON(); got != want {
		t.Errorf("written while Unmanaged: %s", got)
	}
}

// Whoever speaks msgr2 there goes on doing so.
func TestOutOfBandKeepsTheProtocol(t *testing.T) {
	o := newOutside(t, theirConfigMap(strings.Replace(theirs, "10.20.0.2:6789", "10.20.0.2:3300", 1)))
	o.ceph.AddMon("b")
	o.publish()
	o.sync()
	if got := o.configJSON(); !strings.Contains(got, `["10.20.0.2:3300","10.20.0.3:3300"]`) {
		t.Errorf("got %s", got)
	}
}

func TestAlike(t *testing.T) {
	m := monmap(t, "v2:10.0.0.1:3300 v1:10.0.0.1:6789", "v2:10.0.0.2:3300 v1:10.0.0.2:6789")
	v1, v2 := []string{"10.0.0.1:6789", "10.0.0.2:6789"}, []string{"10.0.0.1:3300", "10.0.0.2:3300"}
	both := []string{"10.0.0.1:3300", "10.0.0.1:6789", "10.0.0.2:3300", "10.0.0.2:6789"}
	spelt, vector := []string{"v2:10.0.0.2:3300", "10.0.0.1", "v1:10.0.0.2:6789/0"}, []string{"[v2:10.0.0.1:3300/0,v1:10.0.0.1:6789/0]"}
	for name, tc := range map[string]struct {
		reason                string
		before, picked, taken []string
	}{
		"V1":        {"one mon is new", []string{"10.0.0.1:6789"}, v1, v1},
		"V2":        {"one mon is new", []string{"10.0.0.1:3300"}, v2, v2},
		"Both":      {"rbd map picks, and which volumes speak what nobody knows; mount.ceph takes all", []string{"10.0.0.1:3300", "10.0.0.1:6789"}, both, v1},
		"BothGone":  {"of a mon that is no longer there, the port tells", []string{"10.0.0.1:6789", "10.0.0.9:3300"}, both, v1},
		"OneGone":   {"and a mon that is no longer there goes", []string{"10.0.0.1:6789", "10.0.0.2:6789", "10.0.0.9:6789"}, v1, v1},
		"NoPort":    {"it is of both; the kernel takes that of v1", []string{"10.0.0.1"}, both, v1},
		"Mixed":     {"v1 is among them", []string{"10.0.0.1", "10.0.0.9:3300"}, both, v1},
		"Vector":    {"all addresses of a mon", vector, both, v1},
		"InOne":     {"several mons in an entry", []string{"10.0.0.1:3300,10.0.0.9:3300"}, v2, v2},
		"AllThere":  {"nothing has to change", both, both, both},
		"Spelt":     {"nothing has to change", spelt, spelt, spelt},
		"Protocol":  {"one mon is new", []string{"v2:10.0.0.2:3300/0"}, v2, v2},
		"Name":      {"the port tells", []string{"mon-a:3300"}, v2, v2},
		"NameOfV1":  {"the default", []string{"mon-a:6789"}, v1, v1},
		"Different": {"v1 of one, v2 of the other", []string{"10.0.0.1:6789", "10.0.0.2:3300"}, both, v1},
	} {
		t.Run(name, func(t *testing.T) {
			for picks, want := range map[bool][]string{true: tc.picked, false: tc.taken} {
				got := alike(m, tc.before, picks)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, client picks: %t (-want +got):\n%s", tc.reason, picks, diff)
				}
				if again := alike(m, got, picks); !slices.Equal(again, got) {
					t.Errorf("%s, client picks: %t: then %q", tc.reason, picks, again)
				}
			}
		})
	}
}

func TestOutOfBandWrong(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "ceph-csi-config", errors.New("no rule"))
	tests := map[string]struct {
		reason  string
		objects []runtime.Object
		verb    string
		err     error
		want    string
		text    []string
	}{
		"Missing":    {reason: "a typo in the setting", want: "False/InvalidTarget", text: []string{`key "config.json" of ConfigMap ceph-csi/ceph-csi-config does not exist`, "spec.driverConfig.ceph.outOfBand of ClusterCSIDriver rbd.csi.ceph.com"}},
		"NoKey":      {reason: "another ConfigMap", objects: []runtime.Object{&corev1.ConfigMap{ObjectMeta: theirConfigMap("").ObjectMeta}}, want: "False/InvalidTarget", text: []string{"does not exist"}},
		"Broken":     {reason: "nothing that ceph-csi would read", objects: []runtime.Object{theirConfigMap("{")}, want: "False/InvalidTarget", text: []string{"is not a list of Ceph clusters", "left alone"}},
		"NoEntry":    {reason: "nothing there is kept current", objects: []runtime.Object{theirConfigMap(`[{"clusterID":"rook-ceph","monitors":["1.1.1.1:6789"]}]`)}, want: "False/InvalidTarget", text: []string{"no entry whose clusterID is the fsid", cephtest.FSID}},
		"Forbidden":  {reason: "the command that helps", verb: "get", err: forbidden, want: "False/Forbidden", text: []string{"oc create rolebinding ceph-rbd-csi-driver-operator -n ceph-csi --clusterrole=ceph-rbd-csi-driver-operator-elsewhere"}},
		"ReadOnly":   {reason: "the command that helps", objects: []runtime.Object{theirConfigMap(strings.Replace(theirs, "10.20.0.2", "10.9.9.9", 1))}, verb: "update", err: forbidden, want: "False/Forbidden", text: []string{"Allow it: oc create rolebinding"}},
		"Broken API": {reason: "the error itself", verb: "get", err: errBoom, want: "False/SyncError", text: []string{"boom"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOutside(t, tc.objects...)
			if tc.err != nil {
				o.kube.PrependReactor(tc.verb, "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
			}
			o.sync()
			o.wantCondition(tc.reason, tc.want, tc.text...)
			o.settings.OutOfBand = nil
			o.sync()
			o.wantCondition("the setting is withdrawn", "True/AsExpected")
		})
	}
}
