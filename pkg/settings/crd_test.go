package settings

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition/conditiontest"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// crds tells of CRDs by their names.
type crds struct{ listeners []cache.ResourceEventHandler }

func (c *crds) HasSynced() bool { return true }

func (c *crds) AddEventHandler(listener cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	c.listeners = append(c.listeners, listener)
	return nil, nil
}

func (c *crds) change(name string) {
	object := &unstructured.Unstructured{}
	object.SetName(name)
	for _, l := range c.listeners {
		l.OnUpdate(object, object)
	}
}

// TestCRDKnowsThemAgain: settings that the API server dropped while somebody edited them are stored, and the
// ClusterCSIDriver does not change when the CRD shows them.
func TestCRDKnowsThemAgain(t *testing.T) {
	tests := map[string]struct {
		reason string
		crd    string
		// late is how long the API server goes by the CRD of before.
		late time.Duration
		want string
	}{
		"AtOnce": {"it goes by the CRD that it tells of", crd, 0, text},
		"Late":   {"another one has answered", crd, time.Second, text},
		"Other":  {"it is another kind's", "storages.operator.openshift.io", 0, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, operator, told := &apiServer{cr: resource(pruned)}, conditiontest.New(operatorv1.Managed), &crds{}
				kube := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
				c := newController(operator, &memory{}, server)
				c.CRDs, c.ConfigMaps = told, kube.Core().V1().ConfigMaps()
				var knows atomic.Bool
				c.Live = func(context.Context) (*unstructured.Unstructured, error) {
					cr := server.cr.DeepCopy()
					if knows.Load() {
						cr.Object["spec"] = resource(set(good)).Object["spec"]
					}
					return cr, nil
				}
				running := New(c.Config)
				ctx, stop := context.WithCancel(t.Context())
				kube.Start(ctx.Done())
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					running.Run(ctx, 1)
				}()
				<-time.After(crdSettles)
				time.AfterFunc(tc.late, func() { knows.Store(true) })
				<-time.After(time.Millisecond)
				told.change(tc.crd)
				<-time.After(2 * crdSettles)
				if got := server.cr.GetAnnotations()[driver.SettingsAnnotation]; got != tc.want {
					t.Errorf("%s: the annotation is %q, want %q", tc.reason, got, tc.want)
				}
				stop()
				<-ended
				kube.Shutdown()
			})
		})
	}
}
