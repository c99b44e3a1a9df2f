// Package virtualization tells virtualization platforms what they should know of Ceph volumes:
// KubeVirt's containerized data importer (CDI), and Harvester. Everything rests on CRDs that
// other products bring: while they are missing, nothing runs, and nothing is wrong.
package virtualization

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// kind is what the integration watches while its CRD exists.
type kind struct {
	schema.GroupResource
	// name is of the only object that is watched; empty for all.
	name string
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
		beside:        []string{storageProfiles.crd(), harvesterSettings},
	}
)

// Harvester's settings of CSI drivers.
var (
	driverConfig = kind{GroupResource: settings, name: "csi-driver-config"}
	expansion    = kind{GroupResource: settings, name: "csi-online-expand-validation"}
	settings     = schema.GroupResource{Group: "harvesterhci.io", Resource: "settings"}
)

// harvesterSettings is the CRD by which Harvester is known.
const harvesterSettings = "settings.harvesterhci.io"

var kinds = []kind{storageProfiles, importers, snapshotClasses, driverConfig, expansion}

// crd is the name of the CustomResourceDefinition.
func (k kind) crd() string { return k.GroupResource.String() }

func (k kind) key() string { return k.crd() + "/" + k.name }

// wanted says whether to watch the kind, given the CRDs that exist.
func (k kind) wanted(served func(crd string) []string) bool {
	if len(served(k.crd())) == 0 {
		return false
	}
	read := func(crd string) bool { return len(served(crd)) > 0 }
	return len(k.beside) == 0 || slices.ContainsFunc(k.beside, read)
}
