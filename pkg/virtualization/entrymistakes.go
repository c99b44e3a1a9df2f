package virtualization

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

// ofConfig looks at the entries for the driver in Harvester's setting. What cannot be read at
// all, NewSettings tells.
func (f machineFacts) ofConfig() []Mistake {
	if f.config == nil {
		return nil
	}
	value, _, _ := unstructured.NestedString(f.config.Object, valueField)
	all, err := readEntries(value)
	if err != nil {
		return nil
	}
	var out []Mistake
	for _, e := range all {
		if e.key != f.driver.Name && !strings.HasSuffix(e.key, "."+f.driver.Name) {
			continue
		}
		for _, m := range f.ofEntry(e) {
			m.APIVersion, m.Kind, m.Name, m.UID = f.config.GetAPIVersion(), f.config.GetKind(), f.config.GetName(), f.config.GetUID()
			m.Message = fmt.Sprintf("Setting %s: entry %s: %s", f.config.GetName(), e.key, m.Message)
			out = append(out, m)
		}
	}
	return out
}

func (f machineFacts) ofEntry(e entry) []Mistake {
	if !slices.Contains(f.csiDrivers, e.key) {
		return []Mistake{{Reason: condition.UnknownDriver, Message: "there is no CSIDriver of that name; correct or remove it"}}
	}
	var members map[string]any
	if json.Unmarshal(e.raw, &members) != nil || members == nil {
		return []Mistake{{Reason: condition.NullEntry, Message: "it is no object, over which Harvester fails; remove it"}}
	}
	var out []Mistake
	if backups, _ := members["backupVolumeSnapshotClassName"].(string); backups != "" {
		out = append(out, Mistake{Reason: condition.BackupClassSet,
			Message: "backupVolumeSnapshotClassName is set, but Harvester can back up Longhorn's volumes only; empty it"})
	}
	for _, field := range []string{"supportClone", "supportExpand"} {
		if _, there := members[field]; there {
			out = append(out, Mistake{Reason: condition.ObsoleteFields, Message: field + " has no effect; remove it"})
		}
	}
	name, _ := members["volumeSnapshotClassName"].(string)
	if e.key == f.driver.Name && f.snapshotting {
		if reason, message := f.snapshotProblem(name, ""); reason != "" {
			out = append(out, Mistake{Reason: reason, Message: "volumeSnapshotClassName: " + message})
		}
	}
	return out
}
