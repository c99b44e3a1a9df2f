package gate

import (
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Marks of a CSIDriver that library-go applied from our assets: users may strip the first,
// the second comes with every apply. Helm's annotations prove nothing, they outlive its object.
const (
	managedAnnotation  = "csi.openshift.io/managed"
	specHashAnnotation = "operator.openshift.io/spec-hash"
)

func ours(csiDriver *storagev1.CSIDriver) bool {
	_, managed := csiDriver.Annotations[managedAnnotation]
	_, hashed := csiDriver.Annotations[specHashAnnotation]
	return managed || hashed
}

// CSIDriverIsOurs returns a predicate for the CSIDriver's asset: true where it may be created
// or updated, because there is none or it is ours. An error of the lister means no.
func CSIDriverIsOurs(lister storagelisters.CSIDriverLister, d driver.Driver) func() bool {
	return func() bool {
		csiDriver, err := lister.Get(d.Name)
		if apierrors.IsNotFound(err) {
			return true
		}
		return err == nil && ours(csiDriver)
	}
}
