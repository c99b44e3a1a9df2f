package operator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/gate"
)

// TestRetired: what a former version has applied, and this one does not, goes; where it has gone, nobody asks for it.
func TestRetired(t *testing.T) {
	cephfs := map[string]retiredCase{
		"Secrets":     {"it was for all Secrets of the cluster", "ceph-cephfs-provisioner-configmap-and-secret-reader-binding", true},
		"Snapshotter": {"so was the snapshotter's", "ceph-cephfs-main-snapshotter-binding", true},
		"Present":     {"it is among the present assets", "ceph-cephfs-main-provisioner-binding", false},
		"Sibling":     {"the other driver's operator takes its own", "ceph-rbd-main-snapshotter-binding", false},
	}
	rbd := map[string]retiredCase{
		"Secrets":     {"it was for all Secrets of the cluster", "ceph-rbd-provisioner-configmap-and-secret-reader-binding", true},
		"Snapshotter": {"so was the snapshotter's", "ceph-rbd-main-snapshotter-binding", true},
		"Present":     {"it is among the present assets", "ceph-rbd-main-provisioner-binding", false},
		"Sibling":     {"the other driver's operator takes its own", "ceph-cephfs-main-snapshotter-binding", false},
	}
	t.Run("CephFS", func(t *testing.T) { expectRetired(t, driver.CephFS, cephfs) })
	t.Run("RBD", func(t *testing.T) { expectRetired(t, driver.RBD, rbd) })
}

type retiredCase struct {
	reason, name string
	goes         bool
}

// expectRetired has a driver's operator meet the bindings of the cases.
func expectRetired(t *testing.T, d driver.Driver, tests map[string]retiredCase) {
	t.Helper()
	kube := fake.NewClientset(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: d.NodeName() + "-sa"}})
	bindings := kube.RbacV1().ClusterRoleBindings()
	for _, tc := range tests {
		if _, err := bindings.Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: tc.name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	c, static := newStatic(t, kube, d)
	sync := func() {
		if err := settle(t, c, static); err != nil {
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

// TestRetiredStay: the pods work with what a former version has given them until what takes its place was applied.
func TestRetiredStay(t *testing.T) {
	const former = "ceph-rbd-main-snapshotter-binding"
	refused := true
	kube := fake.NewClientset(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: driver.RBD.NodeName() + "-sa"}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: former}})
	kube.PrependReactor("create", "clusterroles", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refused, nil, apierrors.NewForbidden(rbacv1.Resource("clusterroles"), "", errors.New("the operator's own role is an old one"))
	})
	ctx := t.Context()
	c, static := newStatic(t, kube, driver.RBD)
	state := c.operator.(*asked)
	state.SetState(operatorv1.Unmanaged)
	if err := settle(t, c, static); err != nil {
		t.Fatal(err)
	}
	state.SetState(operatorv1.Managed)
	there := func() bool {
		_, err := kube.RbacV1().ClusterRoleBindings().Get(ctx, former, metav1.GetOptions{})
		return err == nil
	}
	for range 2 {
		if err := settle(t, c, static); err == nil || !there() {
			t.Fatalf("nothing takes its place (%v), and it is there: %t", err, there())
		}
	}
	refused = false
	if err := settle(t, c, static); err != nil || there() {
		t.Errorf("all was applied (%v), and it is there: %t", err, there())
	}
}

// settle syncs until the caches know what was made before, and says what came of the last sync.
func settle(t *testing.T, c *clients, static factory.Controller) error {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = static.Sync(ctx, factory.NewSyncContext("test", c.Recorder))
		return last == nil || !strings.Contains(last.Error(), "already exists"), nil
	})
	if err != nil {
		t.Fatalf("the caches do not follow: %v", last)
	}
	return last
}

// newStatic is the controller of the static resources of a driver that is to be deployed, with caches that run.
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
	static := operands{clients: c, assets: set, gate: deployed}.staticResources()
	ctx, stop := context.WithCancel(t.Context())
	c.kubeInformers.Start(ctx.Done())
	c.volumes.Start(ctx.Done())
	t.Cleanup(func() {
		stop()
		c.volumes.Shutdown()
		c.ns().Shutdown()
		c.cluster().Shutdown()
	})
	c.ns().WaitForCacheSync(ctx.Done())
	c.cluster().WaitForCacheSync(ctx.Done())
	c.volumes.WaitForCacheSync(ctx.Done())
	awaitWatches(t, kube, "configmaps", "clusterrolebindings")
	return c, static
}

// awaitWatches waits until resources are watched: unlike a real API server, the fake does not tell a watch what changed
// between it and the list before it.
func awaitWatches(t *testing.T, kube *fake.Clientset, resources ...string) {
	t.Helper()
	unwatched := func(resource string) bool {
		return !slices.ContainsFunc(kube.Actions(), func(a clienttesting.Action) bool { return a.Matches("watch", resource) })
	}
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(resources, unwatched), nil
	})
	if err != nil {
		t.Fatalf("not all of %q are watched", resources)
	}
}
