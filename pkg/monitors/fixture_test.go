package monitors

import (
	"context"
	"strings"
	"testing"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// fixture is the controller of the CephFS driver over an API server in memory.
type fixture struct {
	t          *testing.T
	kube       *fake.Clientset
	secrets    interface{ Update(any) error }
	classes    interface{ Add(any) error }
	volumes    interface{ Add(any) error }
	configMaps interface{ Update(any) error }
	operator   v1helpers.OperatorClient
	spec       *operatorv1.OperatorSpec
	cluster    ctrl.Latest[ceph.Cluster]
	clusters   ctrl.Latest[[]ceph.Cluster]
	settings   driver.Settings
	wrong      error
	placement  ctrl.Latest[ceph.Placement]
	recorder   events.InMemoryRecorder
	controller *Controller
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{
		t: t, kube: fake.NewClientset(), spec: &operatorv1.OperatorSpec{ManagementState: operatorv1.Managed},
		recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}
	f.placement.Set(ceph.Placement{FSID: cephtest.FSID, Filesystem: "fs", SubvolumeGroup: "csi"})
	f.operator = v1helpers.NewFakeOperatorClient(f.spec, &operatorv1.OperatorStatus{}, nil)
	all := informers.NewSharedInformerFactory(f.kube, 0)
	core, classes := all.Core().V1(), all.Storage().V1().StorageClasses()
	f.classes, f.volumes = classes.Informer().GetIndexer(), core.PersistentVolumes().Informer().GetIndexer()
	f.secrets, f.configMaps = core.Secrets().Informer().GetIndexer(), core.ConfigMaps().Informer().GetIndexer()
	f.controller = New(Config{Env: ctrl.Env{
		Driver: driver.CephFS, Operator: f.operator, Kube: f.kube, Secrets: core.Secrets(), ConfigMaps: core.ConfigMaps(),
		StorageClasses: classes, PersistentVolumes: core.PersistentVolumes(),
		Settings: func() (driver.Settings, error) { return f.settings, f.wrong }, Clock: clock.RealClock{}, Recorder: f.recorder,
	},
		Cluster: &f.cluster, Clusters: &f.clusters, Placement: &f.placement,
	})
	return f
}

// sync runs the controller once and returns the Secret as it then is; nil if there is none.
func (f *fixture) sync() *corev1.Secret {
	f.t.Helper()
	if err := f.controller.Sync(context.Background(), factory.NewSyncContext("test", f.recorder)); err != nil {
		f.t.Fatal(err)
	}
	secret, err := f.kube.CoreV1().Secrets(driver.Namespace).Get(context.Background(), driver.CephFS.ConfigSecret(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.observe(secret)
	return secret
}

func (f *fixture) observe(secret *corev1.Secret) {
	if err := f.secrets.Update(secret.DeepCopy()); err != nil {
		f.t.Fatal(err)
	}
}

// edit changes the Secret as a user would.
func (f *fixture) edit(change func(*corev1.Secret)) {
	f.t.Helper()
	secret := f.sync()
	change(secret)
	updated, err := f.kube.CoreV1().Secrets(driver.Namespace).Update(context.Background(), secret, metav1.UpdateOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	f.observe(updated)
}

// recorded fills the state ConfigMap in the informer.
func (f *fixture) recorded(data map[string]string) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CephFS.StateConfigMap()}, Data: data}
	if err := f.configMaps.Update(object); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) publish(c *cephtest.Cluster) {
	f.cluster.Set(ceph.Cluster{FSID: c.MonMap().FSID, MonMap: c.MonMap(), Credentials: c.Credentials("admin")})
}

func (f *fixture) condition() (out operatorv1.OperatorCondition) {
	_, status, _, err := f.operator.GetOperatorState()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range status.Conditions {
		if c.Type == condition.MonitorsDegraded {
			return c
		}
	}
	return out
}

func (f *fixture) want(reason string, secret *corev1.Secret, fragments ...string) {
	f.t.Helper()
	if secret == nil {
		f.t.Fatalf("%s: no Secret", reason)
	}
	for _, s := range fragments {
		if !strings.Contains(string(secret.Data["config.json"]), s) {
			f.t.Errorf("%s: config.json lacks %s:\n%s", reason, s, secret.Data["config.json"])
		}
	}
	if len(secret.Data) != 1 || !driver.CephFS.Owns(secret) {
		f.t.Errorf("%s: %d keys, labels %v", reason, len(secret.Data), secret.Labels)
	}
	if c := f.condition(); c.Status != operatorv1.ConditionFalse || c.Reason != condition.AsExpected {
		f.t.Errorf("%s: condition %v", reason, c)
	}
}
