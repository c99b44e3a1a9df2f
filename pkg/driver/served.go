package driver

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Named finds the driver with the name of a CSIDriver.
func Named(name string) (Driver, bool) {
	i := slices.IndexFunc(All, func(d Driver) bool { return d.Name == name })
	if i < 0 {
		return Driver{}, false
	}
	return All[i], true
}

// Serves says that a PersistentVolume is one of the driver's.
func (d Driver) Serves(volume *corev1.PersistentVolume) bool {
	return volume.Spec.CSI != nil && volume.Spec.CSI.Driver == d.Name
}

// Foreign says that a StorageClass is another driver's, or that the driver's operator did not make it.
func (d Driver) Foreign(class *storagev1.StorageClass) bool {
	return class.Provisioner != d.Name || !d.Owns(class)
}
