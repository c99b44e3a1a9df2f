package settings

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// patchCRD teaches the CRD of the cluster the settings.
const patchCRD = "oc patch crd clustercsidrivers.operator.openshift.io --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json"

// wayBack is how an administrator sets the member ceph again.
func wayBack(d driver.Driver, member map[string]any) string {
	if member == nil {
		member = map[string]any{}
	}
	patch := map[string]any{"spec": map[string]any{"driverConfig": map[string]any{"driverType": driver.DriverType, "ceph": member}}}
	text, err := json.Marshal(patch)
	if err != nil {
		// Settings come from JSON.
		return err.Error()
	}
	quoted := strings.ReplaceAll(string(text), "'", `'\''`)
	return fmt.Sprintf("to set them again: %s; oc patch clustercsidriver %s --type=merge -p '%s'", patchCRD, d.Name, quoted)
}
