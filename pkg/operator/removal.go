package operator

import (
	"context"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/removal"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// removing takes the driver off the cluster, with what the features below it have made.
func (c *clients) removing(set assets.Set, snapshots *usage.Contents, platforms virtualization.Config) (*removal.Controller, error) {
	objects, err := removal.ObjectsOf(c.Driver, set)
	objects.OptIn = optIns(c.Driver)
	for i, class := range objects.Classes {
		if class.Kind == "StorageClass" {
			objects.Classes[i].Mine = c.keepsClass
		}
	}
	return removal.New(removal.Config{
		Env: c.Env, Sight: removal.Holders{Env: c.Env, Snapshots: snapshots.Count}, Objects: objects, Records: removal.Records(c.Env),
		TakeBack: platforms.TakeBack, State: c.removal,
	}), err
}

// holds says whether the driver has volumes or snapshots; where the caches have none, they are looked for past them.
func holds(h removal.Holders) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		held, err := h.Cached()
		if err == nil && held == (removal.Held{}) {
			held, err = h.Look(ctx)
		}
		return held != (removal.Held{}), err
	}
}

// keepsClass says whether a StorageClass is the operator's to remove.
func (c *clients) keepsClass(class metav1.Object) bool {
	wanted, err := c.StorageClassState()
	return err == nil && wanted != operatorv1.UnmanagedStorageClass && c.Driver.Owns(class)
}

// optIns are what the operator makes of the settings imageProtection and kernelModules, and its rights on platforms for
// virtual machines, where TakeBack of pkg/virtualization has left nothing.
func optIns(d driver.Driver) []removal.OptIn {
	bound := func(role string) removal.OptIn {
		return removal.OptIn{Binding: removal.Object{Kind: "ClusterRoleBinding", Name: role, Mine: d.Owns}}
	}
	images, modules := bound(d.ImagesRole()), bound(d.ModulesRole())
	for _, o := range virtualization.Objects(d) {
		object := removal.Object{Kind: o.Kind, Name: o.Name, Mine: d.Owns}
		switch o.Kind {
		case "MachineConfig", "CloudInit":
			modules.Objects = append(modules.Objects, object)
		default:
			images.Objects = append(images.Objects, object)
		}
	}
	return []removal.OptIn{images, modules, bound(d.MachinesRole())}
}

// supported is the client of library-go's controller of the management state, for which Removed is
// either to be had from library-go or not at all.
type supported struct{ v1helpers.OperatorClient }

// GetOperatorState has no Removed.
func (c supported) GetOperatorState() (*operatorv1.OperatorSpec, *operatorv1.OperatorStatus, string, error) {
	spec, status, version, err := c.OperatorClient.GetOperatorState()
	if err == nil && spec.ManagementState == operatorv1.Removed {
		spec.ManagementState = operatorv1.Managed
	}
	return spec, status, version, err
}
