package virtualization

import (
	"net/http"
	"sync"
	"testing"

	"github.com/openshift/library-go/pkg/operator/events"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// TestClassStaysWhereAnewIsRefused: it cannot be changed in place, and its successor is not let in.
func TestClassStaysWhereAnewIsRefused(t *testing.T) {
	existing := storageClass("v", func(c *storagev1.StorageClass) { c.Annotations = map[string]string{"mine": "1"} })
	client := fake.NewClientset(existing)
	refusal := &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusBadRequest, Message: `admission webhook "w" denied the request: no`}}
	client.PrependReactor("create", "storageclasses", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
	c := classController{ClassConfig: ClassConfig{Config: Config{Env: ctrl.Env{Remembering: &sync.Mutex{}, Kube: client, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{})}}, Record: &memory{}}}
	err := c.act(t.Context(), classFacts{
		driver: driver.RBD, existing: existing, base: storageClass("b", nil),
		asset: &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Parameters: map[string]string{"pool": "q"}},
	})
	if err == nil || reasonOf(err) != condition.AdmissionRefused {
		t.Errorf("got %v", err)
	}
	if _, err := client.StorageV1().StorageClasses().Get(t.Context(), "v", metav1.GetOptions{}); err != nil {
		t.Errorf("users lost it, with its annotations: %v", err)
	}
}

// TestClassIsMadeAnew: the answer to a trial is that the class exists.
func TestClassIsMadeAnew(t *testing.T) {
	existing := storageClass("v", nil)
	client := fake.NewClientset(existing)
	c := classController{ClassConfig: ClassConfig{Config: Config{Env: ctrl.Env{Remembering: &sync.Mutex{}, Kube: client, Recorder: events.NewInMemoryRecorder("test", clock.RealClock{})}}, Record: &memory{}}}
	err := c.act(t.Context(), classFacts{
		driver: driver.RBD, existing: existing, base: storageClass("b", nil),
		asset: &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Parameters: map[string]string{"pool": "q"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.StorageV1().StorageClasses().Get(t.Context(), "v", metav1.GetOptions{})
	if err != nil || got.Parameters["pool"] != "q" {
		t.Errorf("got %v, %v", got, err)
	}
}
