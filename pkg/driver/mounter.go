package driver

import (
	"slices"
	"strconv"
)

// userSpaceMounters are values of ceph-csi's parameter "mounter" whose mounts are served by a
// process in the node pod and end with it: ceph-fuse, rbd-nbd. The kernel's go on.
var userSpaceMounters = []string{fuseMounter, nbdMounter}

const (
	mounterParameter       = "mounter"
	otherMountersParameter = "tryOtherMounters"

	fuseMounter = "fuse"
	nbdMounter  = "rbd-nbd"
)

// InUserSpace says whether volumes of a StorageClass with these parameters, or a volume with
// these attributes, may be mounted by a process in the node pod.
func InUserSpace(parameters map[string]string) bool {
	return slices.Contains(userSpaceMounters, parameters[mounterParameter]) || switchedOn(parameters, otherMountersParameter)
}

// switchedOn reads a parameter of a StorageClass, or an attribute of a volume, as ceph-csi does (parseBoolOption in its
// internal/rbd/nodeserver.go): "True" and "1" switch it on too.
func switchedOn(parameters map[string]string, name string) bool {
	on, err := strconv.ParseBool(parameters[name])
	return err == nil && on
}
