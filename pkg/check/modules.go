package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// modules finds a mgr whose modules are off, or cannot be loaded: it answers as if there were no such
// command; or have failed since (src/mgr/DaemonServer.cc).
func modules(_ Config, f facts) []Line {
	const name = "modules"
	var refused []string
	silent := false
	for _, prefix := range sortedKeys(f.trials) {
		module, err := "volumes", f.trials[prefix]
		if strings.HasPrefix(prefix, "rbd ") {
			module = "rbd_support"
		}
		switch {
		case errors.Is(err, ceph.ErrTimeout):
			silent = true
		case errors.Is(err, ceph.ErrNotLoaded):
			refused = append(refused, fmt.Sprintf("%q (module %s is not loaded)", prefix, module))
		case ceph.Errno(err) == syscall.EIO && strings.Contains(err.Error(), "cannot handle commands"):
			refused = append(refused, fmt.Sprintf("%q (module %s has failed)", prefix, module))
		}
	}
	if silent {
		return []Line{unknown(name, "the mgr did not answer")}
	}
	if len(refused) == 0 {
		return []Line{right(name, "the mgr has loaded what is needed")}
	}
	return []Line{wrong(name, "the mgr does not serve "+strings.Join(refused, ", "),
		"ceph health detail  # MGR_MODULE_DEPENDENCY or MGR_MODULE_ERROR says why", "ceph mgr module ls", "ceph mgr fail")}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
