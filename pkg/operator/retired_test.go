package operator

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
)

// TestRetired: what a former version has applied, and this one does not, goes; where it has gone, nobody asks for it.
func TestRetired(t *testing.T) {
	tests := map[string]struct {
		reason, name string
		goes         bool
	}{
		"Provisioner": {"CephFS modifies no volumes", "ceph-cephfs-provisioner-volumeattributesclass-reader-binding", true},
		"Resizer":     {"nor does its resizer", "ceph-cephfs-resizer-volumeattributesclass-reader-binding", true},
		"Present":     {"it is among the present assets", "ceph-cephfs-main-provisioner-binding", false},
		"Sibling":     {"the other driver's images are modified", "ceph-rbd-provisioner-volumeattributesclass-reader-binding", false},
	}
	kube := fake.NewClientset(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.CephFS.NodeName() + "-sa"}})
	bindings := kube.RbacV1().ClusterRoleBindings()
	for _, tc := range tests {
		if _, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: tc.name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	c, static := newStatic(t, kube, driver.CephFS)
	c.kubeInformers.Start(ctx.Done())
	t.Cleanup(func() {
		stop()
		c.ns().Shutdown()
		c.cluster().Shutdown()
	})
	c.ns().WaitForCacheSync(ctx.Done())
	c.cluster().WaitForCacheSync(ctx.Done())
	sync := func() {
		if err := static.Sync(ctx, factory.NewSyncContext("test", c.Recorder)); err != nil {
			t.Fatal(err)
		}
	}
	sync()
	for name, tc := range tests {
		_, err := bindings.Get(ctx, tc.name, metav1.GetOptions{})
		if (err != nil) != tc.goes {
			t.Errorf("%s: %s: looking for it: %v", name, tc.reason, err)
			continue
		}
		known := func(context.Context) (bool, error) {
			_, err := c.cluster().Rbac().V1().ClusterRoleBindings().Lister().Get(tc.name)
			return (err != nil) == tc.goes, nil
		}
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, known); err != nil {
			t.Fatal(err)
		}
	}
	kube.ClearActions()
	sync()
	if slices.ContainsFunc(kube.Actions(), func(a clienttesting.Action) bool { return a.GetVerb() == "delete" }) {
		t.Errorf("what has gone is deleted again: %v", kube.Actions())
	}
}

// newStatic is the controller of the static resources of a driver that is to be deployed.
func newStatic(t *testing.T, kube *fake.Clientset, d driver.Driver) (*clients, factory.Controller) {
	t.Helper()
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "example.com/" + name
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	if err != nil {
		t.Fatal(err)
	}
	c, operator := newWakeable(t, kube, d)
	c.operator, c.patient = operator, newPatient(operator, c.Clock)
	deployed := &gate.Gate{}
	deployed.State.Set(gate.State{Open: true})
	return c, operands{clients: c, assets: set, gate: deployed}.staticResources()
}
