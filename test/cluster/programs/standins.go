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
	unlock, err := lock(ctx, installed.dir+".lock", log)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	err = builder{module: root, root: root, cache: cache, log: log, flags: "-mod=vendor"}.
		standIns(ctx, "building the stand-ins", "-s -w", installed.dir+"/", standIns...)
	builtHere.done = err == nil
	return installed, err
}

// EnsureDriver returns the stand-in of another release of ceph-csi, such as "3.15".
func EnsureDriver(ctx context.Context, log io.Writer, release string) (string, error) {
	root, err := repository.Root()
	if err != nil {
		return "", err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return "", err
	}
	file := filepath.Join(root, "bin", "cephcsi-"+release)
	return file, builder{module: root, root: root, cache: cache, log: log, flags: "-mod=vendor"}.
		standIns(ctx, "building the stand-in of ceph-csi "+release, "-s -w -X main.release="+release, file, "./test/standins/cephcsi")
}

// standIns builds packages of the repository, which is linked with librados.
func (b builder) standIns(ctx context.Context, what, linked, output string, packages ...string) error {
	tag, err := exec.CommandContext(ctx, filepath.Join(b.root, "test", "librados-tag.sh")).Output()
	if err != nil {
		return fmt.Errorf("finding librados: %w", err)
	}
	arguments := []string{"build", "-trimpath", "-tags=" + strings.TrimSpace(string(tag)), "-ldflags", linked, "-o", output}
	return b.step(ctx, what, append(arguments, packages...)...)
}
