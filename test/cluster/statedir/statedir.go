// Package statedir is the folder of an embedded cluster: who owns it, which processes belong
// to it, and how it is taken away.
package statedir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

const (
	recordFile = "cluster.json"
	lockFile   = "lock"
	// cleanupTimeout is more than two minutes of waiting for something that does not end.
	cleanupTimeout = 3 * time.Minute
)

// RunningError says that a cluster runs in the folder.
type RunningError struct {
	Path  string
	Owner process.Record
}

func (e RunningError) Error() string {
	return fmt.Sprintf("a cluster runs in %s already, owned by process %d", e.Path, e.Owner.PID)
}

// content is what recordFile holds.
type content struct {
	Owner     process.Record   `json:"owner"`
	Processes []process.Record `json:"processes"`
	// Cleanups are commands that take away what outlives the processes.
	Cleanups [][]string `json:"cleanups,omitempty"`
}

// Dir is a folder owned by this program. The lock on it ends with the program.
type Dir struct {
	path string
	lock *os.File

	mu      sync.Mutex
	content content
}

// Create makes the folder and owns it; an empty path means a new temporary folder. What an
// earlier run left in it is ended and removed. It fails with RunningError when another program owns
// the folder, and when it holds anything that is no cluster.
func Create(path string) (*Dir, error) {
	path, err := makeFolder(path)
	if err != nil {
		return nil, err
	}
	if err := refuseForeign(path); err != nil {
		return nil, err
	}
	lock, err := takeLock(path)
	if err != nil {
		return nil, err
	}
	self, err := process.Self()
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock, content: content{Owner: self}}
	if err := errors.Join(endLeftovers(path), clear(path), d.write()); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return d, nil
}

func makeFolder(path string) (string, error) {
	if path == "" {
		return os.MkdirTemp("", "ceph-csi-cluster-")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return path, os.MkdirAll(path, 0o700)
}

// Path is absolute.
func (d *Dir) Path() string { return d.path }

// Add records a process that belongs to the cluster.
func (d *Dir) Add(r process.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.content.Processes = append(d.content.Processes, r)
	return d.write()
}

// AddCleanup records a command that takes away what may be left of the cluster when its processes
// have ended. Remove does not run it.
func (d *Dir) AddCleanup(command ...string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.content.Cleanups = append(d.content.Cleanups, command)
	return d.write()
}

// Release gives the folder up and leaves it as it is.
func (d *Dir) Release() error { return d.lock.Close() }

// Remove takes the folder away.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.path), d.lock.Close())
}

func (d *Dir) write() error {
	data, err := json.MarshalIndent(d.content, "", "  ")
	if err != nil {
		return err
	}
	temporary := filepath.Join(d.path, recordFile+".new")
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, filepath.Join(d.path, recordFile))
}

func read(path string) (content, error) {
	var c content
	data, err := os.ReadFile(filepath.Join(path, recordFile))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("%s: %w", filepath.Join(path, recordFile), err)
	}
	return c, nil
}

func refuseForeign(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == recordFile || e.Name() == lockFile {
			return nil
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty and holds no cluster: choose another folder", path)
	}
	return nil
}

func takeLock(path string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return lock, nil
	}
	_ = lock.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	c, err := read(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return nil, RunningError{Path: path, Owner: c.Owner}
}

// Leftovers are the recorded processes of a folder that still run.
func Leftovers(path string) ([]process.Record, error) {
	c, err := read(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	alive := slices.DeleteFunc(c.Processes, func(r process.Record) bool { return !r.Alive(path) })
	return alive, err
}

func endLeftovers(path string) error {
	left, err := Leftovers(path)
	errs := []error{err}
	for _, r := range left {
		errs = append(errs, r.Kill())
	}
	return errors.Join(append(errs, cleanUp(path))...)
}

// cleanUp runs the recorded commands.
func cleanUp(path string) error {
	c, err := read(path)
	if err != nil {
		return ignoreMissing(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	var errs []error
	for _, command := range c.Cleanups {
		_, err := process.Output(ctx, command[0], command[1:]...)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func clear(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != lockFile {
			errs = append(errs, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	return errors.Join(errs...)
}
