package upgrade

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// What the manifests name until a release is made of them.
const (
	unreleasedImage   = "quay.io/openshift/origin-ceph-csi-driver-operator:latest"
	unreleasedVersion = "0.0.1-snapshot"
)

// release is a version of the operator as a cluster gets it. The images of the drivers and their
// sidecars are the same in all: only the operators' tell one from the other.
type release struct {
	version string
	// patch is of the CRD.
	patch string
	// folder has the manifests.
	folder string
}

// releaseOf makes a release of manifests: `oc adm release new` writes image and version into them.
// They have ClusterOperator storage written, as README says for OpenShift without cluster-storage-operator.
func releaseOf(version, manifests string) release {
	GinkgoHelper()
	r := release{version, filepath.Join(manifests, "crd-patch", "clustercsidriver.patch.json"), GinkgoT().TempDir()}
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(BeEmpty())
	const argument, reporting = "        - cluster-storage\n", "        - --report-cluster-operator\n"
	replacer := strings.NewReplacer(unreleasedImage, r.image(), unreleasedVersion, version, argument, argument+reporting)
	for _, file := range files {
		content, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(r.folder, filepath.Base(file)), []byte(replacer.Replace(strings.ReplaceAll(string(content), reporting, ""))), 0o600)).To(Succeed())
	}
	return r
}

func (r release) image() string {
	return "registry.example.com/ceph-csi-driver-operator:" + r.version
}

func (r release) apply(ctx context.Context) {
	GinkgoHelper()
	env.Kubectl(ctx, "apply", "-f", r.folder)
}

const crdName = "clustercsidrivers.operator.openshift.io"

// stock is the CRD that the cluster version operator brings, and puts back.
const stock = "vendor/github.com/openshift/api/operator/v1/zz_generated.crd-manifests/0000_50_csi-driver_01_clustercsidrivers-Default.crd.yaml"

func putStockCRDBack(ctx context.Context) {
	GinkgoHelper()
	env.Kubectl(ctx, "replace", "-f", stock)
}

func patchCRD(ctx context.Context, r release) {
	GinkgoHelper()
	putStockCRDBack(ctx)
	env.Kubectl(ctx, "patch", "crd", crdName, "--type=json", "--patch-file", r.patch)
}
