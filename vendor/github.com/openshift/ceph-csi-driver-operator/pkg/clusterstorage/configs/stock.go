package configs

import (
	"fmt"
	"strings"
)

// PatchCommand lets the CRD of ClusterCSIDriver accept those of Ceph, and their settings.
const PatchCommand = "oc patch crd clustercsidrivers.operator.openshift.io --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json"

// Explain adds what helps to the error with which an API server that has the stock CRD refuses to create a
// ClusterCSIDriver of Ceph's; any other error it returns as it is.
func Explain(err error) error {
	if err == nil || !strings.Contains(err.Error(), "metadata.name: Unsupported value") {
		return err
	}
	return fmt.Errorf("the CRD does not know this driver: patch it with `%s`, from the repository of ceph-csi-driver-operator: %w", PatchCommand, err)
}
