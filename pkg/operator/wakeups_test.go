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
	gated := func(s starter) factory.Controller { return s.gateController() }
	tagged := func(s starter) factory.Controller { return s.tags(nil) }
	tests := map[string]struct {
		reason string
		row    func(starter) factory.Controller
		create func(context.Context, *fake.Clientset, string) error
		name   string
		wakes  bool
	}{
		"GateRemembered": {"settings that are invalid now, and were valid once, may name Rook", gated, configMap, driver.RBD.StateConfigMap(), true},
		"GateOther":      {"nobody reads it", gated, configMap, "other", false},
		"TagsClusterIDs": {"volumes of a clusterID that nobody knew wait for it", tagged, secret, driver.RBD.ConfigSecret(), true},
		"TagsOther":      {"nobody reads it", tagged, secret, "other", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				kube := fake.NewClientset()
				s, operator := newWakeable(t, kube)
				c := tc.row(s)
				s.clients.kubeInformers.Start(ctx.Done())
				s.clients.volumes.Start(ctx.Done())
				s.clients.config.Start(ctx.Done())
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
				s.clients.volumes.Shutdown()
				s.clients.config.Shutdown()
			})
		})
	}
}

func newWakeable(t *testing.T, kube *fake.Clientset) (starter, *asked) {
	t.Helper()
	config := &rest.Config{Host: "https://192.0.2.1"}
	c, err := newClients(&controllercmd.ControllerContext{KubeConfig: config, ProtoKubeConfig: config, Clock: clock.RealClock{}}, driver.RBD)
	if err != nil {
		t.Fatal(err)
	}
	operator := &asked{finalizable: finalizable{conditiontest.New(operatorv1.Managed)}}
	c.operator, c.kube = operator, kube
	c.kubeInformers = v1helpers.NewKubeInformersForNamespaces(kube, "", driver.Namespace)
	c.volumes = informers.NewSharedInformerFactory(kube, 0)
	c.config = configinformers.NewSharedInformerFactory(configfake.NewClientset(), 0)
	s := starter{
		driver: driver.RBD, clients: c, recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
		clusters: &ctrl.Latest[[]ceph.Cluster]{}, filesystem: &ctrl.Latest[bool]{}, gate: &ctrl.Latest[gate.State]{},
		usage: &ctrl.Latest[usage.Usage]{}, used: &ctrl.Latest[map[string][]string]{}, contents: usage.NewContents(c.dynamic, driver.RBD),
		reports: reports{tags: &ctrl.Latest[tags.Report]{}},
	}
	s.proof = s.newProof()
	return s, operator
}
