package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// standIns are the packages of programs that are this repository's own.
var standIns = []string{"./test/standins/...", "./test/cluster/images/pause", "./test/cluster/images/workload"}

// builtHere is set when this process has built them.
var builtHere struct {
	sync.Mutex
	done bool
}

// EnsureStandIns returns the programs of test/standins, and what pods of tests run, as the
// repository has them when a process asks for the first time, in its folder bin.
func EnsureStandIns(ctx context.Context, log io.Writer) (Installed, error) {
	builtHere.Lock()
	defer builtHere.Unlock()
	root, err := repository.Root()
	if err != nil {
		return Installed{}, err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return Installed{}, err
	}
	installed := Installed{filepath.Join(root, "bin", "standins")}
	if builtHere.done {
		return installed, nil
	}
	if err := os.MkdirAll(installed.dir, 0o755); err != nil {
		return Installed{}, err
	}
	tag, err := exec.CommandContext(ctx, filepath.Join(root, "test", "librados-tag.sh")).Output()
	if err != nil {
		return Installed{}, fmt.Errorf("finding librados: %w", err)
	}
	unlock, err := lock(ctx, installed.dir+".lock", log)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	b := builder{module: root, root: root, cache: cache, log: log, flags: "-mod=vendor"}
	arguments := []string{"build", "-trimpath", "-tags=" + strings.TrimSpace(string(tag)), "-ldflags", "-s -w", "-o", installed.dir + "/"}
	err = b.step(ctx, "building the stand-ins", append(arguments, standIns...)...)
	builtHere.done = err == nil
	return installed, err
}
