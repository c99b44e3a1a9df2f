package driver

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"
)

// userSpaceMounters are values of ceph-csi's parameter "mounter" whose mounts are served by a
// process in the node pod and end with it: ceph-fuse, rbd-nbd. The kernel's go on.
var userSpaceMounters = []string{fuseMounter, nbdMounter}

const (
	mounterParameter = "mounter"

	fuseMounter = "fuse"
	nbdMounter  = "rbd-nbd"
)

// InUserSpace says whether volumes of a StorageClass with these parameters, or a volume with
// these attributes, may be mounted by a process in the node pod.
func InUserSpace(parameters map[string]string) bool {
	return slices.Contains(userSpaceMounters, parameters[mounterParameter]) || parameters["tryOtherMounters"] == "true"
}

// Module is one of the kernel.
type Module struct {
	Name string
	// Mounter is the only value of the parameter "mounter" that needs it; empty for all.
	Mounter string
}

// ModulesFor are the names of the modules that nodes need for volumes of these StorageClasses,
// whoever provisions them, in the order in which they are declared.
func (d Driver) ModulesFor(classes []*storagev1.StorageClass) []string {
	var out []string
	for _, m := range d.Modules {
		needed := m.Mounter == "" || slices.ContainsFunc(classes, func(c *storagev1.StorageClass) bool {
			return c.Provisioner == d.Name && c.Parameters[mounterParameter] == m.Mounter
		})
		if needed {
			out = append(out, m.Name)
		}
	}
	return out
}
