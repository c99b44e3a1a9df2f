package virtualization

import (
	"context"
	"fmt"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rbacinformers "k8s.io/client-go/informers/rbac/v1"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Rights are those that the operator has only while something takes them: a ClusterRole, which it binds to
// itself by a ClusterRoleBinding of the same name.
type Rights struct {
	Client   rbacclient.ClusterRoleBindingsGetter
	Bindings rbacinformers.ClusterRoleBindingInformer
	Recorder events.Recorder
}

func selfBinding(d driver.Driver, role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role, Labels: map[string]string{driver.ManagedByLabel: d.OperatorName()}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: d.OperatorName(), Namespace: driver.Namespace}},
	}
}

// informer tells of the bindings of a driver's operator.
func (r Rights) informer(d driver.Driver) factory.Informer {
	return ctrl.Only(r.Bindings.Informer(), d.ImagesRole(), d.MachinesRole(), d.ModulesRole())
}

// bound is the binding that gives the operator a role; nil where there is none.
func (r Rights) bound(d driver.Driver, role string) *rbacv1.ClusterRoleBinding {
	held, err := r.Bindings.Lister().Get(role)
	if err != nil || !gives(held, d, role) {
		return nil
	}
	return held
}

// Held says, past the cache, whether the operator has a role.
func (r Rights) Held(ctx context.Context, d driver.Driver, role string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	held, err := r.Client.ClusterRoleBindings().Get(ctx, role, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading ClusterRoleBinding %s: %w", role, err)
	}
	return gives(held, d, role), nil
}

func gives(held *rbacv1.ClusterRoleBinding, d driver.Driver, role string) bool {
	wanted := selfBinding(d, role)
	return held.DeletionTimestamp == nil &&
		equality.Semantic.DeepEqual(held.RoleRef, wanted.RoleRef) && equality.Semantic.DeepEqual(held.Subjects, wanted.Subjects)
}

func (r Rights) bind(ctx context.Context, d driver.Driver, role string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if _, _, err := resourceapply.ApplyClusterRoleBinding(ctx, r.Client, r.Recorder, selfBinding(d, role)); err != nil {
		return fmt.Errorf("taking the rights of ClusterRole %s: %w", role, err)
	}
	return nil
}

func (r Rights) withdraw(ctx context.Context, role string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	err := r.Client.ClusterRoleBindings().Delete(ctx, role, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("giving the rights of ClusterRole %s back: %w", role, err)
	}
	r.Recorder.Eventf("RightsWithdrawn", "Deleted ClusterRoleBinding %s, which nothing takes any more", role)
	return nil
}
