// Package virtualization tells virtualization platforms what they should know of Ceph volumes:
// KubeVirt's containerized data importer (CDI), and Harvester. Everything rests on CRDs that
// other products bring: while they are missing, nothing runs, and nothing is wrong.
package virtualization

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// kind is what the integration watches while its CRD exists.
type kind struct {
	schema.GroupResource
	// name is of the only object that is watched; empty for all.
	name string
	// version is that of a kind without a CRD, selector by labels of what is watched of it.
	version, selector string
	// role is the ClusterRole that reading and writing the kind takes, which the operator has at times; empty
	// for one that it always has.
	role string
	// beside are the CRDs of which one must exist, too: without it nobody reads the kind.
	beside []string
	// trim drops from the cache what nobody reads.
	trim cache.TransformFunc
}

// The kinds. Of Harvester's settings only one each is read: others hold credentials.
var (
	storageProfiles = kind{GroupResource: schema.GroupResource{Group: "cdi.kubevirt.io", Resource: "storageprofiles"}}
	// importers configure CDI.
	importers = kind{
		GroupResource: schema.GroupResource{Group: "cdi.kubevirt.io", Resource: "cdis"},
		beside:        []string{storageProfiles.crd()},
	}
	snapshotClasses = kind{
		GroupResource: schema.GroupResource{Group: "snapshot.storage.k8s.io", Resource: "volumesnapshotclasses"},
		beside:        []string{storageProfiles.crd(), harvesterSettings, dataSources.String(), importCrons.String()},
	}
)

// Harvester's settings of CSI drivers.
var (
	driverConfig = kind{GroupResource: settings, name: "csi-driver-config"}
	expansion    = kind{GroupResource: settings, name: "csi-online-expand-validation"}
	settings     = schema.GroupResource{Group: "harvesterhci.io", Resource: "settings"}
)

// CDI's disk images; see imageKinds.
var (
	dataSources = schema.GroupResource{Group: "cdi.kubevirt.io", Resource: "datasources"}
	importCrons = schema.GroupResource{Group: "cdi.kubevirt.io", Resource: "dataimportcrons"}
)

// harvesterSettings is the CRD by which Harvester is known.
const harvesterSettings = "settings.harvesterhci.io"

// machineImages are Harvester's disk images.
var machineImages = kind{GroupResource: schema.GroupResource{Group: "harvesterhci.io", Resource: "virtualmachineimages"}, trim: trimImage}

// platform are the kinds that platforms for virtual machines bring, which all drivers read.
var platform = []kind{storageProfiles, importers, driverConfig, expansion, machineImages}

// platformKinds are these with the role that a driver's operator reads them by.
func platformKinds(d driver.Driver) []kind {
	out := slices.Clone(platform)
	for i := range out {
		out[i].role = d.MachinesRole()
	}
	return out
}

// crd is the name of the CustomResourceDefinition.
func (k kind) crd() string { return k.GroupResource.String() }

func (k kind) key() string { return k.crd() + "/" + k.name }

// wanted are the versions of the kind to choose from, given the CRDs that exist; none where it
// is not to be watched.
func (k kind) wanted(served func(crd string) []string) []string {
	read := func(crd string) bool { return len(served(crd)) > 0 }
	if len(k.beside) > 0 && !slices.ContainsFunc(k.beside, read) {
		return nil
	}
	if k.version != "" {
		return []string{k.version}
	}
	return served(k.crd())
}
