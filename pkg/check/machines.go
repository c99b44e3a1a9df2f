package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/virtualization"
)

// gatherMachines asks what virtual machines can do, where CDI is; it is not known otherwise.
func (c *clusterFacts) gatherMachines(ctx context.Context, config Config) {
	c.machines = map[string]fact[virtualization.Machines]{}
	if crd := c.crds[virtualization.ProfilesCRD]; !crd.known() || crd.value == nil || !c.classes.known() {
		return
	}
	for _, d := range config.Drivers {
		c.machines[d.Name] = ask(ctx, config.CallTimeout, func(ctx context.Context) (virtualization.Machines, error) {
			return virtualization.Look(ctx, config.Cluster.Dynamic, d, c.classes.value)
		})
	}
}

// virtualMachines has a line for each StorageClass of the drivers that CDI knows. Nothing is
// wrong when virtual machines cannot do something there: they may not be meant to.
func virtualMachines(config Config, f facts) []Line {
	const name = "virtual machines"
	switch crd := f.cluster.crds[virtualization.ProfilesCRD]; {
	case crd.err != nil:
		return []Line{unknown(name, crd.err.Error())}
	case crd.value == nil:
		return []Line{right(name, "KubeVirt's containerized data importer is not there")}
	}
	var lines []Line
	for _, d := range config.Drivers {
		found := f.cluster.machines[d.Name]
		if found.err != nil {
			lines = append(lines, unknown(name+" on "+d.Name, found.err.Error()))
			continue
		}
		for _, class := range slices.Sorted(maps.Keys(found.value)) {
			lines = append(lines, machineLine(name+" on "+class, found.value[class]))
		}
	}
	if len(lines) == 0 {
		return []Line{right(name, "there is no StorageClass of the drivers that CDI knows yet")}
	}
	return lines
}

// machineLine tells what works on a StorageClass, and of each thing that does not, why.
func machineLine(name string, features map[string]string) Line {
	var yes, no []string
	for _, feature := range slices.Sorted(maps.Keys(features)) {
		if why := features[feature]; why != "" {
			no = append(no, fmt.Sprintf("no %s (%s)", feature, why))
			continue
		}
		yes = append(yes, feature)
	}
	message := strings.Join(slices.Concat([]string{strings.Join(yes, ", ")}, no), "; ")
	if len(yes) == 0 {
		message = strings.Join(no, "; ")
	}
	if len(no) > len(virtualization.NeverWorks) {
		return note(name, message)
	}
	return right(name, "%s", message)
}
