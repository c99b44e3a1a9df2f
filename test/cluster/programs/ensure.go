package programs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Ensure returns the programs that the repository pins, built now if they are not in the cache
// yet. Programs that start at the same time build once. It tells log what takes time.
func Ensure(ctx context.Context, log io.Writer) (Installed, error) {
	b, pins, err := newBuilder(log)
	if err != nil {
		return Installed{}, err
	}
	snapshotter, err := required(pins[2], snapshotterModule)
	if err != nil {
		return Installed{}, err
	}
	target := filepath.Join(b.cache, "programs-"+key(pins[0], pins[1], snapshotter, b.ldflags))
	return install(ctx, target, log, b.all)
}

// newBuilder builds programs of Kubernetes. It also returns what pins them: go.mod and go.sum of their
// module, and the repository's go.mod.
func newBuilder(log io.Writer) (builder, []string, error) {
	root, err := repository.Root()
	if err != nil {
		return builder{}, nil, err
	}
	cache, err := CacheRoot(log)
	if err != nil {
		return builder{}, nil, err
	}
	b := builder{module: filepath.Join(root, "test", "cluster", "binaries"), root: root, cache: cache, log: log}
	pins, err := readAll(filepath.Join(b.module, "go.mod"), filepath.Join(b.module, "go.sum"), filepath.Join(root, "go.mod"))
	if err != nil {
		return builder{}, nil, err
	}
	kubernetes, err := required(pins[0], kubernetesModule)
	if err != nil {
		return builder{}, nil, err
	}
	b.ldflags, err = linkerFlags(kubernetes)
	return b, pins, err
}

// install returns target, which fill makes when it does not exist.
func install(ctx context.Context, target string, log io.Writer, fill func(ctx context.Context, dir string) error) (Installed, error) {
	if err := Once(ctx, target, log, fill); err != nil {
		return Installed{}, fmt.Errorf("making %s: %w", target, err)
	}
	return Installed{target}, nil
}

// Once has fill make the folder target unless it exists. Only a complete folder ever has the name
// target; programs that want the same at the same time make it once.
func Once(ctx context.Context, target string, log io.Writer, fill func(ctx context.Context, dir string) error) error {
	if exists(target) {
		return nil
	}
	unlock, err := lock(ctx, target+".lock", log)
	if err != nil {
		return err
	}
	defer unlock()
	if exists(target) {
		return nil
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
		return errors.Join(err, os.RemoveAll(unfinished))
	}
	return nil
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
			fmt.Fprintln(log, "Waiting for another program that makes", strings.TrimSuffix(path, ".lock"))
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
