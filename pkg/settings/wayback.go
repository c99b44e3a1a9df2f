package settings

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// patchCRD teaches the CRD of the cluster the settings.
const patchCRD = "oc patch crd clustercsidrivers.operator.openshift.io --type=json --patch-file manifests/crd-patch/clustercsidriver.patch.json"

// wayBack is how an administrator sets the member ceph again.
func wayBack(d driver.Driver, member map[string]any) string {
	return patchCRD + "; " + inSpec(d, member)
}

func inSpec(d driver.Driver, member map[string]any) string {
	return fmt.Sprintf("oc patch clustercsidriver %s --type=merge -p %s", d.Name,
		quoted(map[string]any{"spec": map[string]any{"driverConfig": map[string]any{"driverType": driver.DriverType, "ceph": nonNil(member)}}}))
}

// byAnnotation is how an administrator sets it where the CRD does not know it.
func byAnnotation(d driver.Driver, member map[string]any) string {
	return fmt.Sprintf("oc annotate clustercsidriver %s --overwrite %s=%s", d.Name, driver.SettingsAnnotation, quoted(nonNil(member)))
}

// SetCommand is how an administrator sets one field beside those in force: in the annotation where they stand there, or
// where the CRD does not know the member. It fails where it is not known which are in force.
func SetCommand(d driver.Driver, cr *unstructured.Unstructured, crdKnows bool, field string, value any) (string, error) {
	stand, err := declaredIn(d, cr, state.Settings{})
	if err != nil {
		return "", err
	}
	fields := maps.Clone(nonNil(stand.fields))
	fields[field] = value
	if stand.path == annotationPath || stand.fields == nil && !crdKnows {
		return byAnnotation(d, fields), nil
	}
	return inSpec(d, fields), nil
}

func nonNil(member map[string]any) map[string]any {
	if member == nil {
		return map[string]any{}
	}
	return member
}

// quoted is JSON as one word of a shell's command.
func quoted(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		// Settings come from JSON.
		return err.Error()
	}
	return shell.Quote(string(text))
}
