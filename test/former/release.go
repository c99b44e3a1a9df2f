package former

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What the manifests name until a release is made of them.
const (
	UnreleasedImage   = "quay.io/openshift/origin-ceph-csi-driver-operator:latest"
	unreleasedVersion = "0.0.1-snapshot"
)

// Release is a version of the operator as a cluster gets it. The images of the drivers and their
// sidecars are the same in all: only the operators' tell one from the other.
type Release struct {
	Version string
	// Image of the operator.
	Image string
	// Patch is of the CRD.
	Patch string
	// Folder has the manifests.
	Folder string
}

// NewRelease makes a release of manifests in a folder that is there: `oc adm release new` writes image
// and version into them. They have ClusterOperator storage written, as README says for OpenShift without
// cluster-storage-operator.
func NewRelease(version, image, manifests, folder string) (Release, error) {
	r := Release{version, image, filepath.Join(manifests, "crd-patch", "clustercsidriver.patch.json"), folder}
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil || len(files) == 0 {
		return r, fmt.Errorf("no manifests in %s: %w", manifests, err)
	}
	const argument, reporting = "        - cluster-storage\n", "        - --report-cluster-operator\n"
	replacer := strings.NewReplacer(UnreleasedImage, image, unreleasedVersion, version, argument, argument+reporting)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return r, err
		}
		text := replacer.Replace(strings.ReplaceAll(string(content), reporting, ""))
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(file)), []byte(text), 0o600); err != nil {
			return r, err
		}
	}
	return r, nil
}
