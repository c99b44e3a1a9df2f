package operator

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestUserAgent: a binary of another name writes as the same field manager.
func TestUserAgent(t *testing.T) {
	var agents []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.UserAgent())
		http.NotFound(w, r)
	}))
	defer server.Close()
	cc := &controllercmd.ControllerContext{
		KubeConfig: &rest.Config{Host: server.URL}, ProtoKubeConfig: &rest.Config{Host: server.URL}, Clock: clock.RealClock{},
	}
	c, err := newClients(cc, driver.RBD)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Kube.StorageV1().StorageClasses().Get(t.Context(), "c", metav1.GetOptions{})
	_, _ = c.Dynamic.Resource(ctrl.CRDs).Get(t.Context(), "c", metav1.GetOptions{})
	if len(agents) != 2 || agents[0] != driver.Program || agents[1] != driver.Program {
		t.Errorf("user agents %q, want %q twice", agents, driver.Program)
	}
}

// TestTellsTogether: a registration of its own for each controller takes 25 kB.
func TestTellsTogether(t *testing.T) {
	config := &rest.Config{Host: "https://192.0.2.1"}
	c, err := newClients(&controllercmd.ControllerContext{KubeConfig: config, ProtoKubeConfig: config, Clock: clock.RealClock{}}, driver.RBD)
	if err != nil {
		t.Fatal(err)
	}
	for name, informer := range map[string]cache.SharedIndexInformer{
		"ClusterCSIDriver":          c.operator.Informer(),
		"CustomResourceDefinitions": c.crdInformer,
		"Secrets":                   c.ns().Core().V1().Secrets().Informer(),
		"ConfigMaps":                c.ns().Core().V1().ConfigMaps().Informer(),
		"StorageClasses":            c.cluster().Storage().V1().StorageClasses().Informer(),
	} {
		first, errFirst := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		second, errSecond := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
		if err := errors.Join(errFirst, errSecond); err != nil || first != second {
			t.Errorf("%s: two listeners have two registrations (%v)", name, err)
		}
	}
}
