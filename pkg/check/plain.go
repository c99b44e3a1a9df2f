package check

import (
	"slices"
	"strings"
)

// kubernetesManifests brings what a cluster without OpenShift's APIs lacks.
const kubernetesManifests = "kubectl apply -f bin/release/kubernetes/"

// plain says that the cluster is no OpenShift.
func (c clusterFacts) plain() bool {
	constraints := c.crds[sccCRD]
	return constraints.known() && constraints.value == nil
}

// forCluster has the commands of a line use the tool that the cluster's administrators have.
func (c clusterFacts) forCluster(line Line) Line {
	if !c.plain() {
		return line
	}
	line.Fix = slices.Clone(line.Fix)
	for i, command := range line.Fix {
		if rest, found := strings.CutPrefix(command, "oc "); found {
			line.Fix[i] = "kubectl " + rest
		}
	}
	return line
}
