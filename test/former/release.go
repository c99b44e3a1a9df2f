package former

import (
	"context"
	"path/filepath"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Release is a version of the operator as a cluster gets it. The images of the sidecars are the same in all.
type Release struct {
	Version string
	// Image of the operator.
	Image string
	// Patch is of the CRD.
	Patch string
	// Folder has the manifests.
	Folder string
}

// NewRelease has `make release` make one in a folder, of manifests that may be a former version's, for a cluster
// without cluster-storage-operator.
func NewRelease(ctx context.Context, r repository.Release, folder string) (Release, error) {
	r.Reporting = true
	return Release{r.Version, r.Image, filepath.Join(r.Manifests, "crd-patch", "clustercsidriver.patch.json"), folder}, r.Write(ctx, folder)
}
