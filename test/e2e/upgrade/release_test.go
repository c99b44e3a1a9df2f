package upgrade

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/former"
)

// release makes one of manifests, whose operator RunPodsOf runs.
func release(ctx context.Context, version, manifests string) former.Release {
	GinkgoHelper()
	r, err := former.NewRelease(ctx, repository.Release{
		Version: version, Image: "registry.example.com/ceph-csi-driver-operator:" + version, Manifests: manifests,
	}, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	return r
}

func apply(ctx context.Context, r former.Release) {
	GinkgoHelper()
	env.Kubectl(ctx, "apply", "-f", r.Folder)
}

const crdName = "clustercsidrivers.operator.openshift.io"

// stock is the CRD that the cluster version operator brings, and puts back.
const stock = "vendor/github.com/openshift/api/operator/v1/zz_generated.crd-manifests/0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml"

func putStockCRDBack(ctx context.Context) {
	GinkgoHelper()
	env.Kubectl(ctx, "replace", "-f", stock)
}

func patchCRD(ctx context.Context, r former.Release) {
	GinkgoHelper()
	putStockCRDBack(ctx)
	env.Kubectl(ctx, "patch", "crd", crdName, "--type=json", "--patch-file", r.Patch)
}
