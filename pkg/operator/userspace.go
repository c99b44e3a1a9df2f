package operator

import (
	"slices"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/resource/resourceread"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	rbacv1 "k8s.io/api/rbac/v1"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/nodes"
)

// userSpace has inner keep the assets for mounts in user space while these are possible, and delete them when they are
// not. The informers tell of the classes and volumes that change it: each sync is for all static resources.
func (s operands) userSpace(inner *staticresourcecontroller.StaticResourceController) []factory.Informer {
	updates := nodes.Updates{Env: s.Env}
	var there []func() bool
	for _, asset := range s.assets.UserSpace() {
		is := s.there(asset)
		there = append(there, is)
		inner.WithConditionalResources(s.assets.Asset, []string{asset}, updates.Possible, func() bool { return updates.Impossible() && is() })
	}
	news := func(object any) bool {
		return updates.Matters(object) && slices.ContainsFunc(there, func(is func() bool) bool { return is() != updates.Possible() })
	}
	return []factory.Informer{ctrl.Where(s.StorageClasses.Informer(), news), ctrl.Where(s.PersistentVolumes.Informer(), news)}
}

// there says whether the Role or RoleBinding of an asset is.
func (s operands) there(asset string) func() bool {
	roles, bindings := s.ns().Rbac().V1().Roles().Lister(), s.ns().Rbac().V1().RoleBindings().Lister()
	object := resourceread.ReadGenericWithUnstructuredOrDie(s.assets.Manifest(asset))
	return func() bool {
		var err error
		switch o := object.(type) {
		case *rbacv1.Role:
			_, err = roles.Roles(o.Namespace).Get(o.Name)
		case *rbacv1.RoleBinding:
			_, err = bindings.RoleBindings(o.Namespace).Get(o.Name)
		}
		return err == nil
	}
}
