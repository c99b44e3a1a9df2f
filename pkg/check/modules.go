package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// modules finds a mgr whose modules are off, or cannot be loaded: it answers as if there were no such
// command.
func modules(_ Config, f facts) []Line {
	const name = "modules"
	var missing []string
	silent := false
	for _, prefix := range sortedKeys(f.trials) {
		if errors.Is(f.trials[prefix], ceph.ErrNotLoaded) {
			missing = append(missing, fmt.Sprintf("%q", prefix))
		}
		silent = silent || errors.Is(f.trials[prefix], ceph.ErrTimeout)
	}
	if silent {
		return []Line{unknown(name, "the mgr did not answer")}
	}
	if len(missing) == 0 {
		return []Line{right(name, "the mgr has loaded what is needed")}
	}
	return []Line{wrong(name, "the mgr has no module for "+strings.Join(missing, ", "),
		"ceph health detail  # MGR_MODULE_DEPENDENCY or MGR_MODULE_ERROR says why", "ceph mgr module ls", "ceph mgr fail")}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
