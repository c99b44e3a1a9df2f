package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	cgroupRoot    = "/sys/fs/cgroup"
	cgroup2       = "cgroup2"
	removeTimeout = 20 * time.Second
)

// hierarchy is a mounted tree of cgroups.
type hierarchy struct {
	// path is where it is mounted, kind "cgroup" or "cgroup2", options what to mount it with again.
	path, kind, options string
}

func hierarchies() ([]hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseHierarchies(string(mounts)), nil
}

// parseHierarchies reads /proc/<pid>/mountinfo. Beside the trees of version 1, that of version 2 has no
// controllers and is left out.
func parseHierarchies(mountinfo string) []hierarchy {
	var first, second []hierarchy
	for line := range strings.Lines(mountinfo) {
		front, back, found := strings.Cut(strings.TrimSpace(line), " - ")
		mount, super := strings.Fields(front), strings.Fields(back)
		if !found || len(mount) < 5 || len(super) < 3 {
			continue
		}
		h := hierarchy{path: mount[4], kind: super[0]}
		switch h.kind {
		case cgroup2:
			second = append(second, h)
		case "cgroup":
			h.options = controllers(super[2])
			first = append(first, h)
		}
	}
	if len(first) > 0 {
		return first
	}
	return second
}

// controllers leaves out of a tree's options what is none of its own.
func controllers(options string) string {
	var own []string
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case strings.HasPrefix(option, "name="):
			own = append(own, "none", option)
		case option != "rw" && option != "ro" && option != "xattr" && !strings.Contains(option, "="):
			own = append(own, option)
		}
	}
	return strings.Join(own, ",")
}

// makeCgroups makes a cgroup of the name in every hierarchy.
func makeCgroups(name string) error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range trees {
		dir := filepath.Join(h.path, name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			errs = append(errs, fmt.Errorf("cgroup of a node: %w", err))
		}
		if h.kind == cgroup2 {
			errs = append(errs, delegate(h.path))
		}
		// A new cpuset is empty and takes no process.
		for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
			errs = append(errs, inherit(h.path, dir, file))
		}
	}
	return errors.Join(errs...)
}

func inherit(parent, child, file string) error {
	have, err := os.ReadFile(filepath.Join(child, file))
	if errors.Is(err, fs.ErrNotExist) || len(strings.TrimSpace(string(have))) > 0 {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(parent, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.WriteFile(filepath.Join(child, file), content, 0o644))
}

// delegate lets children of a cgroup of version 2 have every controller that it has itself.
func delegate(dir string) error {
	has, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for controller := range strings.FieldsSeq(string(has)) {
		// One that cannot be delegated is none that kubelet needs, or kubelet says so.
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
	}
	return nil
}

// joinCgroups moves this process.
func joinCgroups(name string) error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range trees {
		errs = append(errs, os.WriteFile(filepath.Join(h.path, name, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644))
	}
	return errors.Join(errs...)
}

// mountCgroups mounts the hierarchies anew below root, as they look from the cgroup namespace.
func mountCgroups(trees []hierarchy, root string) error {
	target := filepath.Join(root, cgroupRoot)
	if len(trees) == 1 && trees[0].kind == cgroup2 {
		if err := syscall.Mount("cgroup2", target, cgroup2, 0, ""); err != nil {
			return fmt.Errorf("mounting cgroups: %w", err)
		}
		// A cgroup with processes of its own cannot have children with controllers.
		own := filepath.Join(target, "init")
		if err := errors.Join(os.MkdirAll(own, 0o755), os.WriteFile(filepath.Join(own, "cgroup.procs"), []byte("1"), 0o644)); err != nil {
			return err
		}
		return delegate(target)
	}
	if err := syscall.Mount("cgroup", target, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting cgroups: %w", err)
	}
	for _, h := range trees {
		dir := filepath.Join(target, filepath.Base(h.path))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount("cgroup", dir, "cgroup", 0, h.options); err != nil {
			return fmt.Errorf("mounting the cgroups %s: %w", h.options, err)
		}
		for single := range strings.SplitSeq(h.options, ",") {
			if single != filepath.Base(h.path) && single != "none" && !strings.Contains(single, "=") {
				_ = os.Symlink(filepath.Base(h.path), filepath.Join(target, single))
			}
		}
	}
	return nil
}

// removeCgroups removes the cgroups of the name and below, whose processes are about to be gone.
func removeCgroups(name string) error {
	trees, err := hierarchies()
	if err != nil {
		return err
	}
	var errs []error
	deadline := time.Now().Add(removeTimeout)
	for _, h := range trees {
		dir := filepath.Join(h.path, name)
		for err := removeTree(dir); err != nil; err = removeTree(dir) {
			if time.Now().After(deadline) {
				errs = append(errs, err)
				break
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	return errors.Join(errs...)
}

// removeTree removes folders only: the files of a cgroup are not there to be removed.
func removeTree(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, removeTree(filepath.Join(dir, e.Name())))
		}
	}
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, fmt.Errorf("removing cgroup %s: %w", dir, err))
	}
	return errors.Join(errs...)
}
