package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// row is one figure of the table, which is taken for each driver.
type row struct {
	what   string
	unit   unit
	target target
	// take measures. Rows that come from one measurement share it.
	take func(ctx context.Context, d driver.Driver) (float64, error)
	// large rows need thousands of objects.
	large bool
	// only is the kind of the driver that the figure is about; empty means both.
	only string
}

// rows is the table, in the order of measuring: what wants the machine for itself comes first, what
// fills the cluster last.
func (b *bench) rows() []row {
	return append(b.nodeRows(), []row{
		{what: "start → Deployment and DaemonSet Available, 8 nodes", unit: seconds, target: atMost(1), take: b.installed(install.available)},
		{what: "start → static resources settled", unit: seconds, target: atMost(1.5), take: b.installed(install.settled)},
		{what: "conditions that went Degraded meanwhile", unit: count, target: atMost(0), take: b.installed(install.degraded)},
		{what: "start → Deployment and DaemonSet created", unit: seconds, take: b.installed(install.workloads)},
		{what: "start → default StorageClass and VolumeSnapshotClass", unit: seconds, take: b.installed(install.classes)},
		{what: "API writes of the start, without events", unit: count, target: atMost(45), take: b.installed(install.writes)},
		{what: "those of conditions among them", unit: count, take: b.installed(install.conditionWrites)},
		{what: "CPU time until then", unit: seconds, take: b.installed(install.cpu)},
		{what: "ClusterCSIDriver created → Deployment and DaemonSet created", unit: seconds, target: atMost(0.3), take: b.created},
		{what: "killed and started again → repairs Deployment and DaemonSet", unit: seconds, target: atMost(1), take: b.repaired},
		{what: "private memory (RssAnon), 20 s after a start", unit: megabytes, target: atMost(36), take: b.small(memory.private)},
		{what: "pages of files in memory (RssFile), shared by processes", unit: megabytes, take: b.small(memory.file)},
		{what: "requests while idle, without lease and watches", unit: perSecond, target: atMost(0.03), take: b.idling(traffic.rate)},
		{what: "writes among them", unit: count, target: atMost(0), take: b.idling(traffic.writes)},
		{what: "private memory after that", unit: megabytes, target: atMost(36), take: b.idling(traffic.private)},
		{what: "quorum with a new mon → config.json has it, at the latest", unit: seconds, target: atMost(5), take: b.monitored(monChange.latest)},
		{what: "workloads and pods that changed because of that", unit: count, target: atMost(0), take: b.monitored(monChange.disturbed)},
		{what: "teardown of 1,000 images, as fast as `rbd image-meta get` and `rbd rm` for each", unit: times, target: atLeast(13), take: b.tornDown(plainImages), only: driver.RBD.Kind},
		{what: "teardown of 200 clones with their parents, as fast as `rbd rm` for each", unit: times, target: atLeast(20), take: b.tornDown(clonedImages), only: driver.RBD.Kind},
		{what: "teardown of 200 subvolumes, as fast as `ceph fs subvolume rm` for each", unit: times, target: atLeast(16), take: b.tornSubvolumes, only: driver.CephFS.Kind},
		{what: "start → 400 subvolumes without tags are tagged, 20 a second", unit: seconds, target: atMost(40), take: b.tagging((*firstPass).seconds), only: driver.CephFS.Kind},
		{what: "start → 20,000 images without tags are tagged, 50 a second", unit: seconds, target: atMost(200), take: b.tagging((*firstPass).seconds), large: true, only: driver.RBD.Kind},
		{what: "private memory then, with their 20,000 PVs", unit: megabytes, target: atMost(65), take: b.tagging((*firstPass).private), large: true, only: driver.RBD.Kind},
		{what: "private memory with 20,000 PVs, 1,000 nodes, 500 StorageClasses", unit: megabytes, target: atMost(65), take: b.crowded(memory.private), large: true},
		{what: "highest memory (RSS) of that start", unit: megabytes, take: b.crowded(memory.peak), large: true},
	}...)
}

// measure takes all figures that are asked for. When one cannot be taken, the others before
// it are still in the report.
func measure(ctx context.Context, rows []row, o options, progress io.Writer) (*report, error) {
	out := &report{}
	for _, r := range rows {
		if !o.only.MatchString(r.what) || r.large && !o.large {
			continue
		}
		line := line{row: r}
		for _, d := range driver.All {
			if r.only != "" && r.only != d.Kind {
				line.values = append(line.values, math.NaN())
				continue
			}
			out.noteLoad()
			value, err := r.take(ctx, d)
			if reason := (impossibleError{}); errors.As(err, &reason) {
				value, line.impossible, err = math.NaN(), reason.Error(), nil
			}
			if err != nil {
				return out, fmt.Errorf("measuring %q of %s: %w", r.what, d.Name, err)
			}
			fmt.Fprintf(progress, "%s, %s: %s\n", d.Kind, r.what, r.unit.format(value))
			line.values = append(line.values, value)
		}
		out.lines = append(out.lines, line)
	}
	return out, nil
}
