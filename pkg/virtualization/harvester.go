package virtualization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/factory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
)

const (
	settingsName = "CephHarvesterSettings"
	// appliedPrefix and the driver's name make the annotation of a Setting that remembers the
	// entry which was written last.
	appliedPrefix = "storage.openshift.io/applied-"
	// valueField of a Setting is an administrator's, defaultField Harvester's.
	valueField, defaultField = "value", "default"
)

type entries struct{ Config }

// NewSettings returns the controller that keeps the driver's entries in Harvester's settings
// csi-driver-config and csi-online-expand-validation. It writes HarvesterSettingsCurrent:
// False, reason InvalidSetting, while one cannot be read, UserOverrides, while an administrator
// has another entry or none, or SyncError. Without Harvester it is absent.
func NewSettings(config Config) factory.Controller {
	return config.controller(settingsName, entries{config}.sync)
}

func (c entries) sync(ctx context.Context, _ factory.SyncContext) error {
	v := c.voice(settingsName, condition.HarvesterSettingsCurrent)
	known, problem := c.Watches.all(driverConfig, expansion, snapshotClasses)
	if known != ready {
		return v.unready(ctx, known, problem)
	}
	var invalid, overridden []string
	var errs []error
	for _, s := range []struct {
		kind   kind
		wanted string
	}{{driverConfig, c.snapshotEntry()}, {expansion, "true"}} {
		setting := c.Watches.get(s.kind, s.kind.name)
		if setting == nil {
			continue // Harvester makes it.
		}
		message, err := c.keep(ctx, setting, s.wanted)
		if errors.Is(err, errInvalidSetting) {
			invalid, err = append(invalid, err.Error()), nil
		}
		if message != "" {
			overridden = append(overridden, message)
		}
		errs = append(errs, err)
	}
	return v.conclude(ctx, invalid, overridden, errors.Join(errs...))
}

func (v voice) conclude(ctx context.Context, invalid, overridden []string, err error) error {
	messages := strings.Join(slices.Concat(invalid, overridden), "; ")
	switch {
	case apierrors.IsConflict(err):
		return err // Our copy is a moment old; nothing is wrong.
	case err != nil:
		return v.failed(ctx, condition.SyncError, err)
	case len(invalid) > 0:
		return v.bad(ctx, condition.InvalidSetting, messages)
	case len(overridden) > 0:
		return v.bad(ctx, condition.UserOverrides, messages)
	}
	return v.good(ctx)
}

// snapshotEntry is the driver's entry in csi-driver-config; empty without a snapshot class.
// The class of backups stays empty: Harvester can back up Longhorn's volumes only, and takes
// the class for the promise that it can.
func (c entries) snapshotEntry() string {
	class, err := c.StorageClasses.Lister().Get(c.Driver.StorageClass)
	if err != nil {
		return ""
	}
	name := snapshotClassFor(class, readSnapshotClasses(c.Watches, c.Driver))
	if name == "" {
		return ""
	}
	out, _ := json.Marshal(struct {
		Snapshots string `json:"volumeSnapshotClassName"`
		Backups   string `json:"backupVolumeSnapshotClassName"`
	}{Snapshots: name})
	return string(out)
}

var errInvalidSetting = errors.New("left as it is, correct it in Harvester's settings")

// keep brings the driver's entry of a setting up to date. The message tells that somebody else
// decides on it.
func (c entries) keep(ctx context.Context, setting *unstructured.Unstructured, wanted string) (string, error) {
	value, _, _ := unstructured.NestedString(setting.Object, valueField)
	defaults, _, _ := unstructured.NestedString(setting.Object, defaultField)
	applied := setting.GetAnnotations()[c.annotation()]
	result, merged, err := merge(settingFacts{value: value, defaults: defaults, key: c.Driver.Name, wanted: wanted, applied: applied})
	name := setting.GetName()
	switch {
	case err != nil:
		return "", fmt.Errorf("the setting %s is %w: %w", name, err, errInvalidSetting)
	case result == overridden:
		return fmt.Sprintf("Setting %s: the entry of %s is %s, the operator would have it %s; to have that, remove the entry, then: kubectl annotate settings.harvesterhci.io %s %s-",
			name, c.Driver.Name, merged, wanted, name, c.annotation()), nil
	case result == withdrawn:
		return fmt.Sprintf("Setting %s: the entry of %s was removed; to have it back: kubectl annotate settings.harvesterhci.io %s %s-", name, c.Driver.Name, name, c.annotation()), nil
	case result == settled:
		return "", nil
	}
	return "", c.write(ctx, setting, merged, wanted)
}

// write refuses to replace what somebody else wrote meanwhile: the object has the version that
// was read.
func (c entries) write(ctx context.Context, setting *unstructured.Unstructured, value, applied string) error {
	resource, watched := c.Watches.resource(driverConfig)
	if !watched {
		return nil
	}
	out := setting.DeepCopy()
	out.Object[valueField] = value
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[c.annotation()] = applied
	out.SetAnnotations(annotations)
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if _, err := c.Dynamic.Resource(resource).Update(ctx, out, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing Setting %s: %w", out.GetName(), err)
	}
	c.Recorder.Eventf("HarvesterSettingChanged", "Setting %s: the entry of %s is %s", out.GetName(), c.Driver.Name, applied)
	return nil
}

func (c entries) annotation() string { return appliedPrefix + c.Driver.Name }
