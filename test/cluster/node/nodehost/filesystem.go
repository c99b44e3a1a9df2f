package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
)

// kept are folders of a node that outlive its restart, each of which lies in its data folder.
var kept = []string{"/var/lib/kubelet", "/var/lib/containerd", "/var/lib/cni", "/var/log", "/var/lib/rook"}

// fresh are folders that are empty each time a node starts.
var fresh = []string{"/run", "/tmp", "/dev/shm", "/etc/cni/net.d", "/etc/ceph"}

// wanted are folders that a node's pods want to see, on a machine whose kernel has no modules too.
var wanted = []string{"/lib/modules", "/etc/selinux"}

// buildRoot makes the node's own view of the machine's files and moves this process there. Whatever
// is written anywhere but in the node's data folder is written to memory and ends with the node.
func buildRoot(n wire.Node, trees []hierarchy) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leaving the machine's mounts: %w", err)
	}
	layers, root := filepath.Join(n.Dir, "layers"), filepath.Join(n.Dir, "root")
	if err := mountOver(layers, root); err != nil {
		return err
	}
	errs := []error{bind("/dev", filepath.Join(root, "dev"), syscall.MS_REC)}
	for _, dir := range fresh {
		errs = append(errs, mountFresh(filepath.Join(root, dir)))
	}
	for _, dir := range kept {
		errs = append(errs, bind(filepath.Join(n.Dir, "data", filepath.Base(dir)), filepath.Join(root, dir), 0))
	}
	for _, dir := range append([]string{n.Cluster}, foldersOf(n.Software)...) {
		errs = append(errs, bind(dir, filepath.Join(root, dir), 0))
	}
	for _, dir := range wanted {
		errs = append(errs, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	errs = append(errs,
		syscall.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""),
		syscall.Mount("sysfs", filepath.Join(root, "sys"), "sysfs", 0, ""),
	)
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("files of %s: %w", n.Member.Name, err)
	}
	if err := mountCgroups(trees, root); err != nil {
		return err
	}
	return enterRoot(root)
}

// mountOver lays a layer in memory over the whole machine's files.
func mountOver(layers, root string) error {
	if err := errors.Join(os.MkdirAll(layers, 0o755), os.MkdirAll(root, 0o755)); err != nil {
		return err
	}
	if err := syscall.Mount("layers", layers, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	upper, work := filepath.Join(layers, "upper"), filepath.Join(layers, "work")
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(work, 0o755)); err != nil {
		return err
	}
	err := syscall.Mount("overlay", root, "overlay", 0, "lowerdir=/,upperdir="+upper+",workdir="+work)
	if err != nil {
		return fmt.Errorf("laying a node's files over the machine's: %w", err)
	}
	return nil
}

func foldersOf(s wire.Software) []string {
	seen := map[string]bool{}
	var folders []string
	files := []string{s.Kubelet, s.KubeProxy, s.DNS}
	for _, image := range s.Images {
		files = append(files, image.File)
	}
	for _, file := range files {
		if dir := filepath.Dir(file); !seen[dir] {
			seen[dir] = true
			folders = append(folders, dir)
		}
	}
	return folders
}

func bind(from, to string, flags uintptr) error {
	if err := errors.Join(os.MkdirAll(from, 0o755), os.MkdirAll(to, 0o755)); err != nil {
		return err
	}
	if err := syscall.Mount(from, to, "", syscall.MS_BIND|flags, ""); err != nil {
		return fmt.Errorf("binding %s to %s: %w", from, to, err)
	}
	return nil
}

func mountFresh(dir string) error {
	mode := "mode=755"
	if strings.HasSuffix(dir, "/tmp") || strings.HasSuffix(dir, "/shm") {
		mode = "mode=1777"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, mode); err != nil {
		return fmt.Errorf("empty folder %s: %w", dir, err)
	}
	return nil
}

// enterRoot makes root this process's root and forgets the machine's. Mounts are shared from there
// on, among the node's own processes: kubelet asks for it.
func enterRoot(root string) error {
	old := filepath.Join(root, "run", "machine")
	if err := os.MkdirAll(old, 0o755); err != nil {
		return err
	}
	if err := syscall.PivotRoot(root, old); err != nil {
		return fmt.Errorf("entering %s: %w", root, err)
	}
	return errors.Join(
		os.Chdir("/"),
		syscall.Unmount("/run/machine", syscall.MNT_DETACH),
		os.Remove("/run/machine"),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""),
	)
}
