package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Ensure returns the programs that the repository pins, built now if they are not in the cache
// yet. Programs that start at the same time build once. It tells log what takes time.
func Ensure(ctx context.Context, log io.Writer) (Installed, error) {
	root, err := repository.Root()
	if err != nil {
		return Installed{}, err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return Installed{}, err
	}
	b := builder{module: filepath.Join(root, "test", "cluster", "binaries"), root: root, cache: cache, log: log}
	pins, err := readAll(filepath.Join(b.module, "go.mod"), filepath.Join(b.module, "go.sum"), filepath.Join(root, "go.mod"))
	if err != nil {
		return Installed{}, err
	}
	kubernetes, err := required(pins[0], kubernetesModule)
	if err != nil {
		return Installed{}, err
	}
	snapshotter, err := required(pins[2], snapshotterModule)
	if err != nil {
		return Installed{}, err
	}
	if b.ldflags, err = linkerFlags(kubernetes); err != nil {
		return Installed{}, err
	}
	target := filepath.Join(cache, "programs-"+key(pins[0], pins[1], snapshotter, b.ldflags))
	return install(ctx, target, log, b.all)
}

// install returns target, which fill makes when it does not exist. Only a complete folder ever
// has the name target.
func install(ctx context.Context, target string, log io.Writer, fill func(ctx context.Context, dir string) error) (Installed, error) {
	if exists(target) {
		return Installed{target}, nil
	}
	unlock, err := lock(ctx, target+".lock", log)
	if err != nil {
		return Installed{}, err
	}
	defer unlock()
	if exists(target) {
		return Installed{target}, nil
	}
	unfinished := target + ".unfinished"
	err = os.RemoveAll(unfinished)
	if err == nil {
		err = os.MkdirAll(unfinished, 0o755)
	}
	if err == nil {
		err = fill(ctx, unfinished)
	}
	if err == nil {
		err = os.Rename(unfinished, target)
	}
	if err != nil {
		return Installed{}, errors.Join(fmt.Errorf("programs of the control plane: %w", err), os.RemoveAll(unfinished))
	}
	return Installed{target}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// lock waits until no other program holds the lock file.
func lock(ctx context.Context, path string, log io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
		}
		if !told {
			fmt.Fprintln(log, "Waiting for another program that builds the control plane")
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
