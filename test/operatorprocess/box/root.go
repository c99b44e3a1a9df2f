package box

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// shared are the folders of the machine that stand for those of an image: programs, libraries,
// names of hosts, and what the kernel shows.
var shared = []string{"/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/nix", "/opt", "/proc", "/sbin", "/sys", "/usr"}

// makeRoot makes the container's root file system and changes to it.
func (p Plan) makeRoot() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts to itself: %w", err)
	}
	if err := unix.Mount("tmpfs", p.Root, "tmpfs", unix.MS_NOSUID, "mode=0755"); err != nil {
		return fmt.Errorf("mounting a root file system: %w", err)
	}
	libraries, err := libraries(p.Program)
	if err != nil {
		return err
	}
	mounts := p.mounts(libraries)
	for _, path := range shared {
		if err := p.share(path, mounts); err != nil {
			return err
		}
	}
	program := filepath.Join(p.Root, inRoot(p.Program))
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		return err
	}
	if err := bind(p.Program, program, false); err != nil {
		return err
	}
	for _, m := range mounts {
		if err := m.mount(p.Root); err != nil {
			return err
		}
	}
	if !p.Writable {
		if err := readOnly(p.Root, 0); err != nil {
			return err
		}
	}
	if p.Hostname != "" {
		if err := unix.Sethostname([]byte(p.Hostname)); err != nil {
			return fmt.Errorf("naming itself %s: %w", p.Hostname, err)
		}
	}
	return change(p.Root)
}

// ofImages are folders that every image has as its own, and the machine has otherwise.
var ofImages = []string{"/tmp", "/etc/ceph"}

// mounts are all, outer ones first.
func (p Plan) mounts(libraries []Mount) []Mount {
	out := slices.Concat(p.Mounts, names(), libraries)
	for _, path := range ofImages {
		if p.Writable && !slices.ContainsFunc(out, func(m Mount) bool { return m.Target == path }) {
			out = append(out, Mount{Target: path, Writable: true})
		}
	}
	for i := range out {
		out[i].Target = followed(out[i].Target)
	}
	slices.SortStableFunc(out, func(a, b Mount) int { return strings.Count(a.Target, "/") - strings.Count(b.Target, "/") })
	return out
}

// followed is where a path is whose first folder is a link, as /lib is on most machines.
func followed(path string) string {
	for _, top := range shared {
		rest, below := strings.CutPrefix(path, top+"/")
		if to, err := os.Readlink(top); below && err == nil {
			return filepath.Join("/", to, rest)
		}
	}
	return path
}

// share has a folder of the machine in the container. One in which something else is mounted
// is made of its parts: there is no place to mount at in a read-only one.
func (p Plan) share(path string, mounts []Mount) error {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	target := filepath.Join(p.Root, path)
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(to, target)
	case !info.IsDir():
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			return err
		}
		return bind(path, target, false)
	case slices.ContainsFunc(mounts, func(m Mount) bool { return m.Target == path }):
		return nil
	case !slices.ContainsFunc(mounts, func(m Mount) bool { return strings.HasPrefix(m.Target, path+"/") }):
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
		return bind(path, target, false)
	}
	if err := os.Mkdir(target, 0o755); err != nil {
		return err
	}
	parts, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := p.share(filepath.Join(path, part.Name()), mounts); err != nil {
			return err
		}
	}
	return nil
}

// names is the folder of /etc/resolv.conf where that is a link to elsewhere.
func names() []Mount {
	file, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if dir := filepath.Dir(file); err == nil && !strings.HasPrefix(dir+"/", "/etc/") {
		return []Mount{{Source: dir, Target: dir}}
	}
	return nil
}

func (m Mount) mount(root string) error {
	target := filepath.Join(root, m.Target)
	if info, err := os.Stat(m.Source); err == nil && !info.IsDir() {
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), touch(target)); err != nil {
			return fmt.Errorf("a place for %s: %w", m.Target, err)
		}
		return bind(m.Source, target, m.Writable)
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return fmt.Errorf("a place for %s: %w", m.Target, err)
	}
	if m.Source != "" {
		return bind(m.Source, target, m.Writable)
	}
	if err := unix.Mount("tmpfs", target, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return fmt.Errorf("mounting %s: %w", m.Target, err)
	}
	return nil
}

func touch(file string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func bind(source, target string, writable bool) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", source, err)
	}
	if writable {
		return nil
	}
	return readOnly(target, unix.AT_RECURSIVE)
}

func readOnly(path string, flags uint) error {
	err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	if err != nil {
		return fmt.Errorf("making %s read-only: %w", path, err)
	}
	return nil
}

// change makes root the root file system and leaves nothing of the other.
func change(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root file system: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the machine's root file system: %w", err)
	}
	return os.Chdir("/")
}
