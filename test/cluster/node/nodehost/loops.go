package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	loopGetStatus64 = 0x4C05
	loopClearFD     = 0x4C01
	askTimeout      = 3 * time.Second
)

// loopInfo is the kernel's struct loop_info64.
type loopInfo struct {
	device, inode, rdevice, offset, sizeLimit uint64
	number, encrypt, keySize, flags           uint32
	fileName, cryptName                       [64]byte
	key                                       [32]byte
	init                                      [2]uint64
}

// detachOrphans frees loop devices whose backing file lies in a filesystem that nothing has mounted any more:
// those are of nodes that were killed, with the FUSE process that showed them the file.
func detachOrphans() error {
	loops, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range loops {
		path, err := os.ReadFile(file)
		if err == nil && unreachable(strings.TrimSpace(string(path))) {
			errs = append(errs, detachApart(filepath.Join("/dev", strings.Split(file, "/")[3])))
		}
	}
	return errors.Join(errs...)
}

// unreachable says that a backing file's path, which starts at the root of its filesystem once that is
// mounted nowhere, does not start in this machine's root. Whoever asked about a file in a
// FUSE filesystem that lives and does not answer would hang.
func unreachable(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	_, err := os.Lstat("/" + first)
	return errors.Is(err, fs.ErrNotExist)
}

// detachApart asks in a process of its own: a filesystem that somebody has unmounted while its FUSE
// process lives and does not answer hangs who asks, beyond being killed.
func detachApart(device string) error {
	asking := exec.Command("/proc/self/exe", "detach", device)
	if err := asking.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- asking.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(askTimeout):
		return asking.Process.Kill()
	}
}

func detachOrphan(device string) error {
	mounted, err := mountedDevices()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(device, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var info loopInfo
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), loopGetStatus64, uintptr(unsafe.Pointer(&info)))
	if errno == syscall.ENXIO {
		return nil
	}
	if errno != 0 && errno != syscall.ENOTCONN {
		return fmt.Errorf("asking %s: %w", device, errno)
	}
	if errno == 0 && (major(info.device) != 0 || mounted[deviceName(info.device)]) {
		return nil
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), loopClearFD, 0); errno != 0 && errno != syscall.ENXIO {
		return fmt.Errorf("freeing %s: %w", device, errno)
	}
	return nil
}

// mountedDevices are the filesystems that any process has mounted, as "major:minor".
func mountedDevices() (map[string]bool, error) {
	files, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	if err != nil {
		return nil, err
	}
	mounted := map[string]bool{}
	seen := map[string]bool{}
	for _, file := range files {
		namespace, err := os.Readlink(filepath.Join(filepath.Dir(file), "ns", "mnt"))
		if err != nil || seen[namespace] {
			continue
		}
		seen[namespace] = true
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(content)) {
			if fields := strings.Fields(line); len(fields) > 2 {
				mounted[fields[2]] = true
			}
		}
	}
	return mounted, nil
}

func major(device uint64) uint64 { return device >> 8 & 0xfff }

func minor(device uint64) uint64 { return device&0xff | device>>12&0xfff00 }

func deviceName(device uint64) string {
	return strconv.FormatUint(major(device), 10) + ":" + strconv.FormatUint(minor(device), 10)
}
