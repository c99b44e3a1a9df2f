package operator

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	configfake "github.com/openshift/client-go/config/clientset/versioned/fake"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/controller/controllertest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
	"github.com/openshift/ceph-csi-driver-operator/pkg/tags"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// asked counts the syncs: each asks for the state.
type asked struct {
	finalizable
	times atomic.Int32
}

func (a *asked) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	a.times.Add(1)
	return a.finalizable.GetOperatorState()
}

// TestWokenByMemory: rows of the table wake with the objects of which they only read parts.
func TestWokenByMemory(t *testing.T) {
	configMap := func(ctx context.Context, kube *fake.Clientset, name string) error {
		_, err := kube.CoreV1().ConfigMaps(driver.Namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	secret := func(ctx context.Context, kube *fake.Clientset, name string) error {
		_, err := kube.CoreV1().Secrets(driver.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	gated := func(c *clients) factory.Controller {
		kept := func() (bool, bool, error) { return false, true, nil }
		return gate.New(gate.Config{Env: c.Env, Removed: kept, Removal: &ctrl.Latest[bool]{}, Filesystem: &ctrl.Latest[bool]{}})
	}
	tagged := func(c *clients) factory.Controller {
		return tags.New(tags.Config{Env: c.Env, Clusters: &ctrl.Latest[[]ceph.Cluster]{}, Contents: usage.NewContents(c.Dynamic, c.Clock, c.Driver)})
	}
	static := func(c *clients) factory.Controller {
		nothing := func(context.Context, factory.SyncContext) error { return nil }
		return wrapped{name: "static", inner: nothing, resync: staticResync, informers: c.staticInformers(), operator: c.Operator, recorder: c.Recorder}.controller()
	}
	tests := map[string]struct {
		reason string
		row    func(*clients) factory.Controller
		create func(context.Context, *fake.Clientset, string) error
		name   string
		wakes  bool
	}{
		"GateRemembered": {"settings that are invalid now, and were valid once, may name Rook", gated, configMap, driver.RBD.StateConfigMap(), true},
		"GateOther":      {"nobody reads it", gated, configMap, "other", false},
		"TagsClusterIDs": {"volumes of a clusterID that nobody knew wait for it", tagged, secret, driver.RBD.ConfigSecret(), true},
		"StaticApplied":  {"somebody has emptied what the cluster's CA bundle comes into", static, configMap, driver.RBD.TrustedCAConfigMap(), true},
		"StaticStatus":   {"it is written each time that something is told, and each sync is 33 requests", static, configMap, driver.RBD.StatusConfigMap(), false},
		"StaticState":    {"it is written with each monmap", static, configMap, driver.RBD.StateConfigMap(), false},
		"StaticSibling":  {"the other driver's operator has its own", static, configMap, driver.CephFS.StatusConfigMap(), false},
		"TagsOther":      {"nobody reads it", tagged, secret, "other", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				kube := fake.NewClientset()
				all, operator := newWakeable(t, kube, driver.RBD)
				c := tc.row(all)
				all.kubeInformers.Start(ctx.Done())
				all.volumes.Start(ctx.Done())
				all.config.Start(ctx.Done())
				var running sync.WaitGroup
				running.Go(func() { c.Run(ctx, 1) })
				<-time.After(time.Second)
				before := operator.times.Load()
				if err := tc.create(ctx, kube, tc.name); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Second)
				if woken := operator.times.Load() > before; woken != tc.wakes {
					t.Errorf("%s: woken is %t", tc.reason, woken)
				}
				stop()
				running.Wait()
				all.volumes.Shutdown()
				all.config.Shutdown()
			})
		})
	}
}

func newWakeable(t *testing.T, kube *fake.Clientset, d driver.Driver) (*clients, *asked) {
	t.Helper()
	config := &rest.Config{Host: "https://192.0.2.1"}
	c, err := newClients(&controllercmd.ControllerContext{
		KubeConfig: config, ProtoKubeConfig: config, Clock: clock.RealClock{}, EventRecorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
	}, d)
	if err != nil {
		t.Fatal(err)
	}
	operator := &asked{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	c.Operator, c.Kube = operator, kube
	c.kubeInformers = v1helpers.NewKubeInformersForNamespaces(kube, "", driver.Namespace)
	c.volumes = informers.NewSharedInformerFactory(kube, 0)
	c.config = configinformers.NewSharedInformerFactory(configfake.NewClientset(), 0)
	c.inform()
	declared := &controllertest.Declarations{}
	declared.Read.Store(true)
	c.ClusterCSIDrivers = declared
	return c, operator
}
