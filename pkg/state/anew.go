package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

type anew struct{ ctrl.Env }

// NewAnew builds the controller CephState. It writes the records of earlier versions anew, with the fields that they
// lack, so that the next version, which reads what this one writes, need not know what was before. While
// spec.managementState is Unmanaged, it writes nothing and says the condition CephStateUpgradeable, with FormerFormat.
func NewAnew(env ctrl.Env) factory.Controller {
	const name = "CephState"
	c := anew{env}
	sync := func(ctx context.Context, _ factory.SyncContext, managed operatorv1.ManagementState) error {
		keys, err := c.sync(ctx, managed)
		if err != nil {
			return err
		}
		return condition.Say(ctx, env.Operator, name, []string{condition.StateUpgradeable}, describe(env.Driver, keys)...)
	}
	return env.Factory(name, sync).WithInformers(env.Remembered()).ToController(name, env.Recorder)
}

// sync returns the keys of records that stay as they were.
func (c anew) sync(ctx context.Context, managed operatorv1.ManagementState) ([]string, error) {
	stored, err := cached(c.ConfigMaps.Lister(), c.Driver.StateConfigMap())
	if err != nil || stored == nil {
		return nil, err
	}
	keys := former(stored.Data)
	removal, err := c.RemovalDeclared()
	if err != nil || managed != operatorv1.Managed && !removal {
		return keys, err
	}
	before := stored
	for _, key := range keys {
		content, err := complete(stored.Data[key], formats[key]())
		if err != nil {
			return nil, fmt.Errorf("encoding key %q of ConfigMap %s: %w", key, stored.Name, err)
		}
		// Its owner may have written it since, and uninstall may have removed the ConfigMap.
		to := applycorev1.ConfigMap(stored.Name, stored.Namespace).WithUID(stored.UID).WithResourceVersion(before.ResourceVersion)
		if before, err = apply(ctx, c.Kube.CoreV1(), to, stored.Data[versionKey], key, content); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// former returns the keys, sorted, of records that lack a field which this version writes; this one never leaves a field
// out. A record that cannot be read is not among them: no version reads it.
func former(data map[string]string) []string {
	var out []string
	for key, format := range formats {
		content, found := data[key]
		if !found {
			continue
		}
		if written, err := complete(content, format()); err == nil && written != "" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// complete returns content with the fields of an empty record that it lacks, which read as they did; "" where it lacks
// none. Content that is no such record is an error.
func complete(content string, record any) (string, error) {
	wanted, err := fieldsOf(record)
	if err != nil {
		return "", err
	}
	var stored map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal([]byte(content), record), json.Unmarshal([]byte(content), &stored)); err != nil {
		return "", err
	}
	maps.DeleteFunc(wanted, func(field string, _ json.RawMessage) bool {
		for has := range stored {
			if strings.EqualFold(has, field) { // as encoding/json reads it
				return true
			}
		}
		return false
	})
	if len(wanted) == 0 {
		return "", nil
	}
	maps.Copy(wanted, stored)
	out, err := json.Marshal(wanted)
	return string(out), err
}

func describe(d driver.Driver, keys []string) []*condition.Said {
	if len(keys) == 0 {
		return nil
	}
	return []*condition.Said{condition.New(condition.StateUpgradeable, operatorv1.ConditionFalse, condition.FormerFormat, fmt.Sprintf(
		"ConfigMap %s/%s has %s as an earlier version of this operator wrote it, which the next version need not know: set spec.managementState "+
			"of ClusterCSIDriver %s to Managed, and it is written anew", driver.Namespace, d.StateConfigMap(), strings.Join(keys, ", "), d.Name))}
}
