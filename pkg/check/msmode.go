package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// msMode compares the protocols of the mons with what the kernel of a node is told to speak:
// v1 unless ms_mode says otherwise. StorageClasses have a line of their own when they are wrong.
func msMode(d driver.Driver, _ Config, f facts) []Line {
	const name = "ms_mode"
	if f.monMap.err != nil {
		return []Line{unanswered(name, f.monMap.err)}
	}
	p := profiles[d.Kind]
	settings, _ := f.cluster.settings(d)
	told := p.setting(settings)
	setField := fmt.Sprintf(`oc patch clustercsidriver %s --type=merge -p '{"spec":{"driverConfig":{"driverType":"Ceph","ceph":{%q:%q}}}}'`,
		d.Name, p.option, p.advice)
	lines := []Line{f.spoken(name, "ceph."+p.option, told, settings.Mounter, setField)}
	for _, class := range f.cluster.classes.value {
		if class.Provisioner != d.Name || d.Owns(class) || class.Parameters["clusterID"] != f.fsid.value {
			continue
		}
		options := class.Parameters[p.option]
		if p.inherited {
			options = cmp.Or(options, told)
		}
		remake := fmt.Sprintf("oc get storageclass %[1]s -o yaml > %[1]s.yaml  # set parameter %[2]s: %[3]s; then: oc replace --force -f %[1]s.yaml",
			class.Name, p.option, p.advice)
		line := f.spoken("StorageClass "+class.Name, "parameter "+p.option, options, class.Parameters["mounter"], remake)
		if line.State != OK {
			lines = append(lines, line)
		}
	}
	return lines
}

// spoken judges the options that stand in field; fix sets ms_mode there.
func (f facts) spoken(name, field, options, mounter, fix string) Line {
	if driver.InUserSpace(map[string]string{"mounter": mounter}) {
		return right(name, "mounts in user space (%s) speak v1 and v2", mounter)
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
	if !(driver.Settings{MapOptions: options}).Msgr2() {
		return ceph.V1, ""
	}
	return ceph.V2, " (" + options + ")"
}
