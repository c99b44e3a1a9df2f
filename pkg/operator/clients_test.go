package operator

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

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
	_, _ = c.kube.StorageV1().StorageClasses().Get(t.Context(), "c", metav1.GetOptions{})
	_, _ = c.dynamic.Resource(crdResource).Get(t.Context(), "c", metav1.GetOptions{})
	if len(agents) != 2 || agents[0] != driver.Program || agents[1] != driver.Program {
		t.Errorf("user agents %q, want %q twice", agents, driver.Program)
	}
}
