package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// present is every record by its key, as this version writes it.
var present = map[string]any{
	clusterKey: Cluster{}, placementKey: Placement{}, settingsKey: Settings{}, usersKey: CephUsers{}, InfraIDKey: InfraID{},
	classKey: Class{}, snapshotKey: Class{}, groupKey: Class{}, machinesKey: Class{},
}

// NewUpgradeable builds the controller CephState. It says the condition CephStateUpgradeable, with FormerFormat, while
// there are records in the format of an earlier version: the next one reads what this one writes, and need not know
// what was before. Otherwise the condition is absent.
func NewUpgradeable(env ctrl.Env) factory.Controller {
	const name = "CephState"
	sync := func(ctx context.Context, _ factory.SyncContext, _ operatorv1.ManagementState) error {
		data, err := dataOf(env.ConfigMaps.Lister(), env.Driver.StateConfigMap())
		if err != nil {
			return err
		}
		return condition.Say(ctx, env.Operator, name, []string{condition.StateUpgradeable}, describe(env.Driver, former(data))...)
	}
	return env.Factory(name, sync).WithInformers(env.Remembered()).ToController(name, env.Recorder)
}

// former returns the keys, sorted, of records that lack a field which this version writes; this one never leaves a field
// out. A record that cannot be read is not among them: whoever needs it says so.
func former(data map[string]string) []string {
	var out []string
	for key, format := range present {
		wanted, err := fieldsOf(format)
		var stored map[string]json.RawMessage
		if err != nil || json.Unmarshal([]byte(data[key]), &stored) != nil {
			continue
		}
		for field := range wanted {
			if _, has := stored[field]; !has {
				out = append(out, key)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

func describe(d driver.Driver, keys []string) []*condition.Said {
	if len(keys) == 0 {
		return nil
	}
	return []*condition.Said{condition.New(condition.StateUpgradeable, operatorv1.ConditionFalse, condition.FormerFormat, fmt.Sprintf(
		"ConfigMap %s/%s has %s as an earlier version of this operator wrote it, which the next version need not know: this version writes it anew "+
			"once spec.managementState of ClusterCSIDriver %s is Managed, its settings are valid and its Ceph cluster answers",
		driver.Namespace, d.StateConfigMap(), strings.Join(keys, ", "), d.Name))}
}
