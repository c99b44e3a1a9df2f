package driver

import "slices"

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
