package driver

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Kin says that a CSI driver of this name is another one of ceph-csi whose volumes are like the
// driver's. Rook, ODF and administrators of several deployments put something in front of the name.
func (d Driver) Kin(name string) bool {
	return name != d.Name && slices.ContainsFunc(d.Names, func(known string) bool {
		return name == known || strings.HasSuffix(name, "."+known)
	})
}

// KinServes says that a volume is like the driver's, and another CSI driver serves it. ceph-csi can be
// told any name: what it made up is known by handle and attributes.
func (d Driver) KinServes(volume *corev1.CSIPersistentVolumeSource) bool {
	if _, one := Named(volume.Driver); one {
		return false
	}
	if OfCeph(volume.Driver) {
		return d.Kin(volume.Driver)
	}
	_, err := ceph.ParseVolumeHandle(volume.VolumeHandle)
	return err == nil && d.Storage.Holds(volume.VolumeAttributes)
}

// OfCeph says that a CSI driver of this name is known to be one of ceph-csi.
func OfCeph(name string) bool {
	return slices.ContainsFunc(All, func(d Driver) bool { return name == d.Name || d.Kin(name) })
}

// Holds says that attributes are those of an image.
func (images) Holds(attributes map[string]string) bool {
	return attributes[poolParameter] != "" && attributes[filesystemParameter] == ""
}

// Holds says that attributes are those of a subvolume.
func (subvolumes) Holds(attributes map[string]string) bool {
	return attributes[filesystemParameter] != ""
}
