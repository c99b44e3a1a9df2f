package operator

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const healer = "ceph-rbd-csi-driver-healer"

func installed(d driver.Driver) runtime.Object {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: d.NodeName() + "-sa"}}
}

func classWith(d driver.Driver, mounter string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "users"}, Provisioner: d.Name, Parameters: map[string]string{"mounter": mounter}}
}

func volumeWith(d driver.Driver, name, mounter string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: d.Name, VolumeAttributes: map[string]string{"mounter": mounter}}
	return v
}

// left are the healer's Role and RoleBinding.
func left(objects ...runtime.Object) []runtime.Object {
	meta := metav1.ObjectMeta{Namespace: driver.Namespace, Name: healer}
	return append(objects, &rbacv1.Role{ObjectMeta: meta}, &rbacv1.RoleBinding{ObjectMeta: meta})
}

// healing says whether the Role and the RoleBinding are there.
func healing(t *testing.T, kube *fake.Clientset) (role, binding bool) {
	t.Helper()
	_, err := kube.RbacV1().Roles(driver.Namespace).Get(t.Context(), healer, metav1.GetOptions{})
	_, errBinding := kube.RbacV1().RoleBindings(driver.Namespace).Get(t.Context(), healer, metav1.GetOptions{})
	return err == nil, errBinding == nil
}

// TestHealerMayRead: node pods may read the Secret only while they may have to map volumes again.
func TestHealerMayRead(t *testing.T) {
	rbd, cephfs := driver.RBD, driver.CephFS
	tests := map[string]struct {
		reason  string
		driver  driver.Driver
		state   operatorv1.ManagementState
		objects []runtime.Object
		want    bool
	}{
		"Kernel":          {"krbd needs no healer", rbd, operatorv1.Managed, []runtime.Object{classWith(rbd, "rbd"), volumeWith(rbd, "v", "")}, false},
		"Class":           {"a volume of it may be mounted at any time", rbd, operatorv1.Managed, []runtime.Object{classWith(rbd, "rbd-nbd")}, true},
		"Volume":          {"its class may be gone", rbd, operatorv1.Managed, []runtime.Object{volumeWith(rbd, "v", "rbd-nbd")}, true},
		"Gone":            {"nothing asks for it any more", rbd, operatorv1.Managed, left(), false},
		"Stays":           {"something does", rbd, operatorv1.Managed, left(volumeWith(rbd, "v", "rbd-nbd")), true},
		"Unmanaged":       {"nothing is applied", rbd, operatorv1.Unmanaged, []runtime.Object{classWith(rbd, "rbd-nbd")}, false},
		"UnmanagedGone":   {"nor deleted", rbd, operatorv1.Unmanaged, left(), true},
		"OtherDriver":     {"its pods have rights of their own", rbd, operatorv1.Managed, []runtime.Object{classWith(cephfs, "fuse")}, false},
		"CephFS":          {"ceph-fuse has no healer", cephfs, operatorv1.Managed, []runtime.Object{classWith(cephfs, "fuse")}, false},
		"CephFSOfSibling": {"it is the other operator's", cephfs, operatorv1.Managed, left(), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset(append(tc.objects, installed(tc.driver))...)
			c, static := newStatic(t, kube, tc.driver)
			c.operator.(*asked).SetState(tc.state)
			if err := static.Sync(t.Context(), factory.NewSyncContext("test", c.Recorder)); err != nil {
				t.Fatal(err)
			}
			if role, binding := healing(t, kube); role != tc.want || binding != tc.want {
				t.Errorf("%s: Role %t, RoleBinding %t", tc.reason, role, binding)
			}
		})
	}
}

// TestHealerMissesNothing: a node pod that starts while a former version's Role is narrowed may read the Secret.
func TestHealerMissesNothing(t *testing.T) {
	former := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: driver.Namespace, Name: "ceph-rbd-csi-driver-node-role"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{driver.RBD.NodeSecret()}, Verbs: []string{"get"}},
	}}
	kube := fake.NewClientset(former, installed(driver.RBD), classWith(driver.RBD, "rbd-nbd"))
	c, static := newStatic(t, kube, driver.RBD)
	kube.ClearActions()
	if err := static.Sync(t.Context(), factory.NewSyncContext("test", c.Recorder)); err != nil {
		t.Fatal(err)
	}
	at := func(verb, resource string) int {
		return slices.IndexFunc(kube.Actions(), func(a clienttesting.Action) bool { return a.Matches(verb, resource) })
	}
	bound, narrowed := at("create", "rolebindings"), at("update", "roles")
	if bound < 0 || narrowed < bound {
		t.Errorf("bound with write %d, narrowed with %d", bound, narrowed)
	}
	role, err := kube.RbacV1().Roles(driver.Namespace).Get(t.Context(), former.Name, metav1.GetOptions{})
	if err != nil || slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "secrets") }) {
		t.Errorf("%v, %v", role.Rules, err)
	}
}

// TestHealerWakes: a sync is 33 requests, and volumes come and go by the hundred.
func TestHealerWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		kube := fake.NewClientset(installed(driver.RBD))
		c, static := newStatic(t, kube, driver.RBD)
		var running sync.WaitGroup
		running.Go(func() { static.Run(ctx, 1) })
		classes, volumes := kube.StorageV1().StorageClasses(), kube.CoreV1().PersistentVolumes()
		create := func(mounter, name string) error {
			_, err := volumes.Create(ctx, volumeWith(driver.RBD, name, mounter), metav1.CreateOptions{})
			return err
		}
		remove := func(name string) error { return volumes.Delete(ctx, name, metav1.DeleteOptions{}) }
		steps := []struct {
			what         string
			change       func() error
			wakes, there bool
		}{
			{"nothing", func() error { return nil }, false, false},
			{"a volume of the kernel's", func() error { return create("", "kernel") }, false, false},
			{"the first volume", func() error { return create("rbd-nbd", "a") }, true, true},
			{"more", func() error { return errors.Join(create("rbd-nbd", "b"), create("rbd-nbd", "c")) }, false, true},
			{"a class", func() error {
				_, err := classes.Create(ctx, classWith(driver.RBD, "rbd-nbd"), metav1.CreateOptions{})
				return err
			}, false, true},
			{"volumes go", func() error { return errors.Join(remove("a"), remove("b"), remove("c")) }, false, true},
			{"the class goes", func() error { return classes.Delete(ctx, "users", metav1.DeleteOptions{}) }, true, false},
		}
		for _, step := range steps {
			<-time.After(10 * time.Second)
			before := c.operator.(*asked).times.Load()
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Second)
			role, binding := healing(t, kube)
			if wakes := c.operator.(*asked).times.Load() > before; wakes != step.wakes || role != step.there || binding != step.there {
				t.Errorf("%s: wakes %t, Role %t, RoleBinding %t", step.what, wakes, role, binding)
			}
		}
		stop()
		running.Wait()
	})
}
