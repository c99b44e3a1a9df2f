package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// lines are what a screen shows: everything where there is no end, else what fits, with the newest events
// last to go in.
func (s seen) lines(width, height int) []string {
	out := []string{s.title()}
	for _, part := range [][]string{s.ofCeph(), s.ofPools(), s.ofDrivers()} {
		out = append(append(out, ""), part...)
	}
	out = append(append(out, ""), s.ofEvents()...)
	if height > 0 {
		out = out[:min(len(out), height)]
	}
	for i, line := range out {
		out[i] = cut(line, width)
	}
	return out
}

// cut shortens a line to a width, of which 0 is without end. Messages have line breaks.
func cut(line string, width int) string {
	line = strings.TrimRight(strings.ReplaceAll(line, "\n", " "), " ")
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	return string([]rune(line)[:max(0, width-1)]) + "…"
}

// row has its name in a column of its own.
func row(name, format string, arguments ...any) string {
	return fmt.Sprintf("%-9s", name) + fmt.Sprintf(format, arguments...)
}

// unread says why something is not known; empty where it is.
func unread[T any](f fact[T]) string {
	switch {
	case !f.asked:
		return "not asked"
	case f.err != nil:
		return "cannot be read: " + f.err.Error()
	}
	return ""
}

func (s seen) title() string {
	cluster := "Kubernetes " + cmp.Or(unread(s.version), s.version.value)
	if s.infrastructure.err != nil {
		cluster += ", infra ID " + unread(s.infrastructure)
	}
	if object := s.infrastructure.value; object != nil {
		if name, _, _ := unstructured.NestedString(object.Object, "status", "infrastructureName"); name != "" {
			cluster = name + ", " + cluster
		}
	}
	return s.now.UTC().Format(time.TimeOnly) + " UTC  " + cluster
}

func (s seen) ofCeph() []string {
	c := s.ceph
	as := ""
	if c.user != "" {
		as = " as client." + c.user
	}
	if !c.monMap.known() {
		what := "no connection"
		if c.connected {
			what = "does not answer"
		}
		return []string{row("Ceph", "%s%s: %v", what, as, c.monMap.err), row("Mons", "not asked")}
	}
	answers := row("Ceph", "%s answers%s, release %s", c.monMap.value.FSID, as, cmp.Or(unread(c.version), c.version.value))
	var names []string
	for _, mon := range c.monMap.value.Mons {
		name := mon.Name
		if c.quorum.known() && !slices.Contains(c.quorum.value, name) {
			name += " (out of quorum)"
		}
		names = append(names, name)
	}
	for _, mon := range c.monMap.value.NeverJoined {
		names = append(names, neverJoined(mon))
	}
	in := fmt.Sprint(len(c.quorum.value))
	if why := unread(c.quorum); why != "" {
		in = "? (" + why + ")"
	}
	return []string{answers, row("Mons", "%s of %d in quorum, epoch %d: %s", in, len(names), c.monMap.value.Epoch, strings.Join(names, ", "))}
}

// inUse are the pools that the operators say are in use, and why that is not known of some.
func (s seen) inUse() (pools, unknown []string) {
	for _, d := range s.drivers {
		document := s.status[d.Name]
		if why := unread(document); why != "" || document.value == nil {
			unknown = append(unknown, "which of them "+d.Name+" uses is not known: "+cmp.Or(why, "there is no ConfigMap "+d.StatusConfigMap()))
			continue
		}
		for _, c := range document.value.CephClusters {
			if c.FSID != s.ceph.monMap.value.FSID {
				continue
			}
			pools = append(pools, c.Pools.InUse...)
			for _, name := range c.Filesystems {
				i := slices.IndexFunc(s.ceph.filesystemPools.value, func(f ceph.FilesystemPools) bool { return f.Filesystem == name })
				if i < 0 {
					unknown = append(unknown, "those of filesystem "+name+" are not known: "+cmp.Or(unread(s.ceph.filesystemPools), "Ceph does not have it"))
					continue
				}
				pools = append(append(pools, s.ceph.filesystemPools.value[i].Data...), s.ceph.filesystemPools.value[i].Metadata)
			}
		}
	}
	slices.Sort(pools)
	return slices.Compact(pools), unknown
}

func (s seen) ofPools() []string {
	if why := unread(s.ceph.pools); why != "" {
		return []string{row("Pools", "%s", why)}
	}
	pools, unknown := s.inUse()
	if len(unknown) == len(s.drivers) && len(pools) == 0 {
		for _, c := range s.ceph.pools.value {
			pools = append(pools, c.Pool)
		}
	}
	widest := 0
	for _, name := range pools {
		widest = max(widest, len(name))
	}
	var out []string
	for _, name := range pools {
		i := slices.IndexFunc(s.ceph.pools.value, func(c ceph.Capacity) bool { return c.Pool == name })
		if i < 0 {
			out = append(out, fmt.Sprintf("%-*s  Ceph says nothing of it", widest, name))
			continue
		}
		c := s.ceph.pools.value[i]
		out = append(out, fmt.Sprintf("%-*s  %s %3.0f %%  %s stored, %s available", widest, name, bar(c.Used()), 100*c.Used(), size(c.Stored), size(c.Available)))
	}
	out = append(out, unknown...)
	if len(out) == 0 {
		out = []string{"none is in use"}
	}
	return named("Pools", out)
}

// named puts a name before the first line.
func named(name string, lines []string) []string {
	for i, line := range lines {
		if i > 0 {
			name = ""
		}
		lines[i] = row(name, "%s", line)
	}
	return lines
}

// barWidth is how many characters a full pool has.
const barWidth = 20

func bar(part float64) string {
	full := max(0, min(barWidth, int(part*barWidth+0.5)))
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}

// size is a number of bytes for people.
func size(bytes uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value, unit := float64(bytes), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

func (s seen) ofDrivers() []string {
	var out []string
	for _, d := range s.drivers {
		name := profiles[d.Kind].group
		resource := s.resources[d.Name]
		if why := unread(resource); why != "" {
			out = append(out, row(name, "ClusterCSIDriver %s %s", d.Name, why))
			continue
		}
		if resource.value == nil {
			out = append(out, row(name, "there is no ClusterCSIDriver %s", d.Name))
			continue
		}
		state, unwell := judge(resource.value)
		out = append(out, row(name, "%s; %s; %s", state, s.volumes(d), s.nodes(d)))
		for _, text := range unwell {
			out = append(out, row("", "%s", text))
		}
	}
	return out
}

func (s seen) volumes(d driver.Driver) string {
	document := s.status[d.Name]
	switch why := unread(document); {
	case why != "":
		return "volumes: ConfigMap " + d.StatusConfigMap() + " " + why
	case document.value == nil:
		return "volumes: there is no ConfigMap " + d.StatusConfigMap()
	}
	text := fmt.Sprintf("%d volumes", document.value.Volumes)
	if legacy := document.value.LegacyVolumes; legacy > 0 {
		text += fmt.Sprintf(" and %d from before CSI", legacy)
	}
	return text
}

func (s seen) nodes(d driver.Driver) string {
	daemonSet := s.daemonSets[d.Name]
	switch why := unread(daemonSet); {
	case why != "":
		return "nodes: DaemonSet " + d.NodeName() + " " + why
	case daemonSet.value == nil:
		return "nodes: there is no DaemonSet " + d.NodeName()
	}
	status := daemonSet.value.Status
	return fmt.Sprintf("%d of %d nodes have a ready pod", status.NumberReady, status.DesiredNumberScheduled)
}

// judge sums up the conditions of a ClusterCSIDriver, and tells of each that is not as it should be.
func judge(resource *unstructured.Unstructured) (state string, unwell []string) {
	var cr operatorv1.ClusterCSIDriver
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(resource.Object, &cr); err != nil {
		return "its conditions cannot be read: " + err.Error(), nil
	}
	state = "available"
	workloads := 0
	for _, c := range cr.Status.Conditions {
		if strings.HasSuffix(c.Type, operatorv1.OperatorStatusTypeAvailable) {
			workloads++
			if c.Status != operatorv1.ConditionTrue {
				state = "not available"
			}
		}
		if !wellWith(c) {
			unwell = append(unwell, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
		}
	}
	if workloads == 0 {
		state = "not deployed"
	}
	if cr.Spec.ManagementState != operatorv1.Managed {
		state += fmt.Sprintf(", managementState %q", cr.Spec.ManagementState)
	}
	slices.Sort(unwell)
	return state, unwell
}

// wellWith says whether a condition is as it is where all is well.
func wellWith(c operatorv1.OperatorCondition) bool {
	if c.Type == condition.CredentialsMinted {
		return true // Either way of it works.
	}
	for _, suffix := range []string{
		operatorv1.OperatorStatusTypeDegraded, operatorv1.OperatorStatusTypeProgressing, condition.Disabled, condition.LegacyVolumes,
	} {
		if strings.HasSuffix(c.Type, suffix) {
			return c.Status == operatorv1.ConditionFalse
		}
	}
	return c.Status == operatorv1.ConditionTrue
}

func (s seen) ofEvents() []string {
	if why := unread(s.events); why != "" {
		return []string{row("Events", "%s", why)}
	}
	var out []string
	for _, event := range s.events.value {
		out = append(out, fmt.Sprintf("%s  %s %s %s: %s", happened(event).UTC().Format(time.TimeOnly), event.Reason,
			strings.ToLower(event.InvolvedObject.Kind), event.InvolvedObject.Name, event.Message))
	}
	if len(out) == 0 {
		out = []string{"none"}
	}
	return named("Events", out)
}
