package statedir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// unlockTimeout is far above what the kernel takes to end a program's threads.
const unlockTimeout = 10 * time.Second

// ErrNoCluster says that there is nothing to stop.
var ErrNoCluster = errors.New("no cluster")

// Stop ends the cluster of a folder from outside: it asks the owner to end and kills it when
// ctx ends first, kills the recorded processes that are left, and removes the folder. It touches no
// process but the recorded ones.
func Stop(ctx context.Context, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	c, err := read(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoCluster, path)
	}
	if err != nil {
		return err
	}
	if c.Owner.Alive("") && owned(path) {
		if err := syscall.Kill(c.Owner.PID, syscall.SIGTERM); err != nil {
			return fmt.Errorf("ending process %d, which owns %s: %w", c.Owner.PID, path, err)
		}
	}
	for owned(path) && c.Owner.Alive("") {
		select {
		case <-ctx.Done():
			_ = syscall.Kill(c.Owner.PID, syscall.SIGKILL)
		case <-time.After(50 * time.Millisecond):
		}
	}
	// A program that has ended holds the lock until the last of its threads has.
	for deadline := time.Now().Add(unlockTimeout); owned(path); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s was taken by another program meanwhile", path)
		}
	}
	if err := endLeftovers(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// owned says whether a living program holds the folder's lock.
func owned(path string) bool {
	lock, err := os.Open(filepath.Join(path, lockFile))
	if err != nil {
		return false
	}
	defer lock.Close()
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
