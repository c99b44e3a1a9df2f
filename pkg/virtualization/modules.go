package virtualization

import (
	"strings"

	"github.com/openshift/library-go/pkg/controller/factory"

	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

const modulesName = "CephKernelModules"

type kernelModules struct{ Config }

// NewKernelModules returns the controller that, when asked to, has nodes load the kernel's
// modules when they start: by MachineConfigs on OpenShift, by a CloudInit on Harvester. It
// writes KernelModulesCurrent: False, reason NotSupported where there is neither, ForeignObject
// where one is somebody else's, or SyncError; it is absent when nobody asks.
func NewKernelModules(config Config) factory.Controller {
	k := keeper{
		Config: config, name: modulesName, conditionType: condition.KernelModulesCurrent, role: config.Driver.ModulesRole(),
		kinds: moduleKinds(config.Driver), wanted: kernelModules{config}.wanted,
	}
	return config.controller(modulesName, k.sync, config.CRDs, config.Rights.informer(config.Driver))
}

func (c kernelModules) wanted() (wish, error) {
	asked, err := optedIn(c.Settings, func(s driver.Settings) bool { return s.LoadsModules() })
	if err != nil || !asked {
		return wish{}, err
	}
	return wish{asked: true, items: moduleItems(c.Driver), pointless: c.pointless()}, nil
}

func (c kernelModules) pointless() string {
	for _, k := range moduleKinds(c.Driver) {
		if len(c.Served(k.crd())) > 0 {
			return ""
		}
	}
	return "neither OpenShift's MachineConfigs nor Harvester's CloudInits are here: node pods load modules with the first volume"
}

// moduleItems are for whichever platform there is. Whatever StorageClasses come and go, they stay the same:
// OpenShift restarts nodes for each change.
func moduleItems(d driver.Driver) []item {
	var out []item
	for _, k := range moduleKinds(d) {
		if k.GroupResource == cloudInits {
			object := ownObject(d, cloudInits.Group+"/v1beta1", "CloudInit", k.name)
			object.Object["spec"] = map[string]any{
				"matchSelector": map[string]any{}, "paused": false, "filename": "90_" + k.name + ".yaml", "contents": cloudInit(d.Modules),
			}
			out = append(out, item{k, object})
			continue
		}
		object := ownObject(d, machineConfigs.Group+"/v1", "MachineConfig", k.name)
		labels := object.GetLabels()
		labels["machineconfiguration.openshift.io/role"] = roleOf(k.name)
		object.SetLabels(labels)
		object.Object["spec"] = map[string]any{"config": ignition(d)}
		out = append(out, item{k, object})
	}
	return out
}

// roleOf is the role in the name of a MachineConfig: 99-<role>-….
func roleOf(name string) string { return strings.Split(name, "-")[1] }

// ignition writes the list that systemd reads when a node starts.
func ignition(d driver.Driver) map[string]any {
	return map[string]any{
		"ignition": map[string]any{"version": "3.2.0"},
		"storage": map[string]any{"files": []any{map[string]any{
			"path":      "/etc/modules-load.d/ceph-" + d.Kind + "-csi.conf",
			"mode":      int64(0o644),
			"overwrite": true,
			"contents":  map[string]any{"source": "data:," + strings.Join(d.Modules, "%0A") + "%0A"},
		}}},
	}
}

// cloudInit does what Harvester's installer makes of os.modules.
func cloudInit(modules []string) string {
	out := "stages:\n  initramfs:\n  - commands:\n"
	for _, m := range modules {
		out += "    - modprobe " + m + "\n"
	}
	return out
}
