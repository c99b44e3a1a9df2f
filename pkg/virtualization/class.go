package virtualization

import (
	"maps"
	"reflect"
	"slices"

	operatorv1 "github.com/openshift/api/operator/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	savedstate "github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// defaultForMachines marks the StorageClass that KubeVirt and CDI prefer to the default one.
const defaultForMachines = "storageclass.kubevirt.io/is-default-virt-class"

// defaultForAll marks the StorageClass of claims that name none.
const defaultForAll = "storageclass.kubernetes.io/is-default-class"

// step is what to do with the StorageClass for virtual machines.
type step int

const (
	nothing step = iota
	create
	// update writes what can be changed in place.
	update
	// replace deletes and creates: the other fields are immutable.
	replace
	remove
)

// classFacts are what the decision on the StorageClass for virtual machines rests on.
type classFacts struct {
	driver driver.Driver
	// asset is what it has beyond base, the driver's default StorageClass; nil without that one.
	asset, base *storagev1.StorageClass
	// existing is the class of the asset's name, or nil.
	existing *storagev1.StorageClass
	// state is spec.storageClassState: it is for the default class and for this one.
	state operatorv1.StorageClassStateName
	// images are the disk images that use existing.
	images []string
	// last is what users gave a class that is being made anew.
	last savedstate.Class
	// taken says that another StorageClass is the default one for virtual machines.
	taken bool
	// elsewhere says that a StorageClass of another driver is the default one.
	elsewhere bool
}

// decideClass says what to do, and with which class:
//
//	state     | base    | existing      | then
//	any       | any     | not ours      | nothing
//	Unmanaged | any     | any           | nothing
//	Removed   | any     | ours          | remove
//	Managed   | missing | any           | nothing: it is made anew, or somebody else's
//	Managed   | ours    | missing       | create, with what its predecessor had; else the default unless there is one, or CDI imports elsewhere
//	Managed   | ours    | ours, differs | update or replace; annotations and labels stay
func decideClass(f classFacts) (step, *storagev1.StorageClass) {
	ours := f.existing != nil && !f.driver.Foreign(f.existing)
	switch {
	case f.existing != nil && !ours, f.state == operatorv1.UnmanagedStorageClass:
		return nothing, nil
	case f.state == operatorv1.RemovedStorageClass && ours:
		return remove, f.existing
	case f.state == operatorv1.RemovedStorageClass, f.base == nil, f.driver.Foreign(f.base):
		return nothing, nil
	}
	wanted := f.wanted()
	if !ours {
		f.last.Give(wanted)
		if f.taken && wanted.Annotations[defaultForMachines] == "true" {
			delete(wanted.Annotations, defaultForMachines)
		}
		return create, wanted
	}
	wanted.Labels, wanted.Annotations = f.existing.Labels, f.existing.Annotations
	switch {
	case !sameForever(wanted, f.existing):
		return replace, wanted
	case !reflect.DeepEqual(wanted.MountOptions, f.existing.MountOptions) ||
		!reflect.DeepEqual(wanted.AllowVolumeExpansion, f.existing.AllowVolumeExpansion):
		return update, wanted
	}
	return nothing, nil
}

// wanted is base with what the asset adds.
func (f classFacts) wanted() *storagev1.StorageClass {
	out := f.base.DeepCopy()
	out.ObjectMeta = metav1.ObjectMeta{
		Name: f.asset.Name, Labels: maps.Clone(f.asset.Labels), Annotations: maps.Clone(f.asset.Annotations),
	}
	if f.taken || f.elsewhere {
		delete(out.Annotations, defaultForMachines)
	}
	if out.Parameters == nil {
		out.Parameters = map[string]string{}
	}
	options := driver.JoinMapOptions(out.Parameters[f.driver.KernelOptions], f.asset.Parameters[f.driver.KernelOptions])
	maps.Copy(out.Parameters, f.asset.Parameters)
	out.Parameters[f.driver.KernelOptions] = options
	driver.DropJournal(out.Parameters)
	return out
}

// sameForever compares what the API server lets nobody change.
func sameForever(a, b *storagev1.StorageClass) bool {
	return reflect.DeepEqual(a.Parameters, b.Parameters) && a.Provisioner == b.Provisioner &&
		reflect.DeepEqual(a.ReclaimPolicy, b.ReclaimPolicy) && reflect.DeepEqual(a.VolumeBindingMode, b.VolumeBindingMode)
}

// takenByAnother says whether a StorageClass other than the named one is the default for
// virtual machines.
func takenByAnother(name string, all []*storagev1.StorageClass) bool {
	return slices.ContainsFunc(all, func(c *storagev1.StorageClass) bool {
		return c.Name != name && c.Annotations[defaultForMachines] == "true"
	})
}
