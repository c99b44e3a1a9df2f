package status

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/events"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestWokenByWhatItWaitsFor: whatever came last, the ConfigMap is written.
func TestWokenByWhatItWaitsFor(t *testing.T) {
	tests := map[string]struct {
		reason string
		begin  *conditiontest.Operator
		// states come one after the other, once the Ceph cluster is known.
		states []operatorv1.ManagementState
	}{
		"Managed": {"nothing is in the way", conditiontest.New(operatorv1.Managed), nil},
		"RemovedAWhile": {"the change that waited came to its turn meanwhile", conditiontest.New(operatorv1.Managed),
			[]operatorv1.ManagementState{operatorv1.Removed, operatorv1.Managed}},
		"UnmanagedAtFirst": {"all was known when nothing was to be written", conditiontest.New(operatorv1.Unmanaged), []operatorv1.ManagementState{operatorv1.Managed}},
		"CreatedLast":      {"Ceph was known before there was a ClusterCSIDriver", conditiontest.Missing(), []operatorv1.ManagementState{operatorv1.Managed}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kube := fake.NewClientset()
				configMaps := informers.NewSharedInformerFactory(kube, 0)
				config := Config{Env: ctrl.Env{
					Driver: driver.RBD, Operator: tc.begin, Kube: kube, ConfigMaps: configMaps.Core().V1().ConfigMaps(), Clock: clock.RealClock{},
					Recorder: events.NewInMemoryRecorder("test", clock.RealClock{}),
				},
					Sources: newSources(),
				}
				c := New(config)
				ctx, stop := context.WithCancel(t.Context())
				configMaps.Start(ctx.Done())
				var running sync.WaitGroup
				running.Go(func() { c.Run(ctx, 1) })
				config.Clusters.Set([]ceph.Cluster{cluster(t, "f1", 1)})
				<-time.After(settle / 2)
				for _, state := range tc.states {
					tc.begin.SetState(state)
					<-time.After(2 * settle)
				}
				<-time.After(2 * settle)
				_, err := kube.CoreV1().ConfigMaps(driver.Namespace).Get(ctx, driver.RBD.StatusConfigMap(), metav1.GetOptions{})
				if err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}
				stop()
				running.Wait()
				configMaps.Shutdown()
			})
		})
	}
}
