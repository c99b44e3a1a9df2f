package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/settings"
)

// msMode compares the protocols of the mons with what the kernel of a node is told to speak:
// v1 unless ms_mode says otherwise. StorageClasses have a line of their own when they are wrong.
func msMode(d driver.Driver, _ Config, f facts) []Line {
	const name = "ms_mode"
	if f.monMap.err != nil {
		return []Line{unanswered(name, f.monMap.err)}
	}
	p := profiles[d.Kind]
	inForce, _ := f.cluster.settings(d)
	told := p.setting(inForce)
	lines := []Line{f.spoken(name, "ceph."+d.KernelOptions, told, map[string]string{"mounter": inForce.Mounter}, f.cluster.setMSMode(d, told))}
	for _, class := range f.cluster.classes.value {
		if class.Provisioner != d.Name || d.Owns(class) || class.Parameters["clusterID"] != f.fsid.value {
			continue
		}
		if d.Unheard(class.Parameters, inForce, f.monMap.value) {
			lines = append(lines, wrong("StorageClass "+class.Name,
				fmt.Sprintf("parameter %[1]s has nodes speak v2, but config.json has the mons by their v1 addresses until ceph.%[1]s has ms_mode, too", d.KernelOptions),
				f.cluster.setMSMode(d, told)))
			continue
		}
		remake := fmt.Sprintf("oc get storageclass %[1]s -o yaml > %[1]s.yaml  # set parameter %[2]s: %[3]s; then: oc replace --force -f %[1]s.yaml",
			class.Name, d.KernelOptions, p.withMSMode(class.Parameters[d.KernelOptions]))
		line := f.spoken("StorageClass "+class.Name, "parameter "+d.KernelOptions, d.Storage.KernelOptions(class.Parameters, inForce), class.Parameters, remake)
		if line.State != OK {
			lines = append(lines, line)
		}
	}
	return lines
}

var anyMSMode = regexp.MustCompile(`\bms_mode=[^,;]*`)

func (p profile) withMSMode(options string) string {
	return p.advice(anyMSMode.ReplaceAllString(options, ""))
}

// setMSMode is the command that sets ms_mode beside the settings of a ClusterCSIDriver.
func (c clusterFacts) setMSMode(d driver.Driver, told string) string {
	p, cr, known := profiles[d.Kind], c.resources[d.Name], false
	if crd := c.crds[driversCRD].value; crd != nil {
		_, known = accepted(crd)
	}
	command, err := settings.SetCommand(d, cr.value, known, d.KernelOptions, p.withMSMode(told))
	switch {
	case err != nil || !cr.known():
		return fmt.Sprintf("oc edit clustercsidriver %s  # once it exists: add ms_mode to ceph.%s, e.g. %s", d.Name, d.KernelOptions, p.withMSMode(""))
	case cr.value == nil:
		return command + "  # once the ClusterCSIDriver exists"
	}
	return command
}

// spoken judges the options, which stand in field, of mounts with parameters; fix sets ms_mode there.
func (f facts) spoken(name, field, options string, parameters map[string]string, fix string) Line {
	if driver.InUserSpace(parameters) {
		return right(name, "mounts in user space speak v1 and v2")
	}
	protocol, value := chosen(options)
	var missing []string
	for _, mon := range f.monMap.value.Mons {
		if !slices.ContainsFunc(mon.Addrs, func(a ceph.Address) bool { return a.Protocol == protocol }) {
			missing = append(missing, mon.Name)
		}
	}
	all := len(missing) == len(f.monMap.value.Mons)
	switch {
	case len(missing) == 0:
		return right(name, "nodes speak %s%s, as all mons do", protocol, value)
	case all && protocol == ceph.V1:
		return wrong(name, "the mons speak v2 only, which the kernel of a node does only with ms_mode in "+field, fix)
	case all:
		return wrong(name, fmt.Sprintf("%s has%s, but the mons speak v1 only", field, value), "ceph mon enable-msgr2")
	}
	return note(name, fmt.Sprintf("nodes speak %s%s, but these mons do not: %s; nodes do without them", protocol, value, strings.Join(missing, ", ")),
		"ceph mon enable-msgr2")
}

// chosen is the protocol that mount options choose, and how they say it.
func chosen(options string) (protocol ceph.Protocol, how string) {
	if !driver.Msgr2(options) {
		return ceph.V1, ""
	}
	return ceph.V2, " (" + options + ")"
}
