package gate

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// CSIDriverIsOurs returns a predicate for the CSIDriver's asset: true where it may be created
// or updated, because there is none or it is ours. An error of the lister means no.
func CSIDriverIsOurs(lister storagelisters.CSIDriverLister, d driver.Driver) func() bool {
	return func() bool {
		csiDriver, err := lister.Get(d.Name)
		if apierrors.IsNotFound(err) {
			return true
		}
		return err == nil && driver.Applied(csiDriver)
	}
}
