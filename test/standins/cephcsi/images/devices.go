package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/access"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/cephcsi/node"
	"github.com/openshift/ceph-csi-driver-operator/test/volumes"
)

// devices stand in for the kernel's: where it has nbd, rbd-nbd shows an image as a device; else
// rbd-fuse shows it as a file, and a loop device that file. What there is stands in a folder of
// the kubelet, where the plugin's next pod finds it.
type devices struct{ folder string }

// device is one image's.
type device struct{ folder string }

func (d devices) of(place volumes.Place, image string) device {
	namespace := place.Namespace
	if namespace == "" {
		namespace = "_"
	}
	return device{filepath.Join(d.folder, place.Pool, namespace, image)}
}

func (d device) mountPoint() string { return filepath.Join(d.folder, "image") }

// lock is a file that rbd-fuse holds locked until it has ended.
func (d device) lock() string { return filepath.Join(d.folder, "lock") }

// path is the device's; empty where the image has none, or had before the node started again.
func (d device) path() (string, error) {
	name, err := os.ReadFile(filepath.Join(d.folder, "device"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	path := string(name)
	if strings.HasPrefix(path, "/dev/nbd") {
		_, err := os.Stat("/sys/block/" + filepath.Base(path) + "/pid")
		if err != nil {
			return "", nil
		}
		return path, nil
	}
	mounted, mountErr := node.Mounted(d.mountPoint())
	if !mounted {
		return "", errors.Join(err, mountErr)
	}
	return path, err
}

// attach returns the device's path. Kernel says that it must outlive the plugin's pod, as the
// kernel's do.
func (d device) attach(ctx context.Context, session *access.Session, place volumes.Place, image string, kernel, readOnly bool) (string, error) {
	if path, err := d.path(); err != nil || path != "" {
		return path, err
	}
	if err := os.MkdirAll(d.mountPoint(), 0o700); err != nil {
		return "", err
	}
	show := d.showFile
	if _, err := os.Stat("/sys/module/nbd"); err == nil {
		show = d.showNBD
	}
	path, err := show(ctx, session, place, image, kernel, readOnly)
	if err != nil {
		return "", errors.Join(fmt.Errorf("rbd: map failed with error %w", err), d.detach(ctx))
	}
	return path, os.WriteFile(filepath.Join(d.folder, "device"), []byte(path), 0o600)
}

func (d device) showNBD(ctx context.Context, session *access.Session, place volumes.Place, image string, kernel, readOnly bool) (string, error) {
	arguments := []string{"--id", session.User.ID, "-m", session.Mons(), "--keyfile=" + session.User.KeyFile, "map", place.String() + "/" + image}
	if readOnly {
		arguments = append(arguments, "--read-only")
	}
	if !kernel {
		return node.Run(ctx, "rbd-nbd", arguments...)
	}
	return node.Outlive(ctx, "rbd-nbd", arguments...)
}

func (d device) showFile(ctx context.Context, session *access.Session, place volumes.Place, image string, kernel, readOnly bool) (string, error) {
	// rbd-fuse takes the rest from here, as all of Ceph's programs do.
	arguments := []string{
		d.lock(), "env", "CEPH_ARGS=" + strings.Join([]string{"--id", session.User.ID, "-m", session.Mons(), "--keyfile", session.User.KeyFile}, " "),
		"rbd-fuse", "-p", place.Pool, "-r", image, "-c", "/etc/ceph/ceph.conf", d.mountPoint(),
	}
	if place.Namespace != "" {
		arguments = append(arguments, "-s", place.Namespace)
	}
	run := node.Run
	if kernel {
		run = node.Outlive
	}
	if _, err := run(ctx, "flock", arguments...); err != nil {
		return "", err
	}
	file := filepath.Join(d.mountPoint(), image)
	if err := await(ctx, func() bool { _, err := os.Stat(file); return err == nil }); err != nil {
		return "", fmt.Errorf("rbd: error opening image %s: %w", image, err)
	}
	loop := []string{"--find", "--show", file}
	if readOnly {
		loop = append([]string{"--read-only"}, loop...)
	}
	return node.Run(ctx, "losetup", loop...)
}

// detach ends what attach has begun. It may be called again.
func (d device) detach(ctx context.Context) error {
	path, err := d.path()
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(path, "/dev/nbd"):
		_, err = node.Run(ctx, "rbd-nbd", "unmap", path)
	case path != "":
		_, err = node.Run(ctx, "losetup", "--detach", path)
	}
	if err != nil {
		return fmt.Errorf("rbd: unmap failed: %w", err)
	}
	busy := error(nil)
	err = await(ctx, func() bool {
		var mounted bool
		if mounted, busy = node.Mounted(d.mountPoint()); mounted && busy == nil {
			busy = node.Mounter.Unmount(d.mountPoint())
			mounted = busy != nil
		}
		return !mounted
	})
	if err := errors.Join(err, busy); err != nil {
		return err
	}
	if err := await(ctx, d.closed); err != nil {
		return fmt.Errorf("rbd: unmap failed: %w", err)
	}
	return os.RemoveAll(d.folder)
}

// closed says that rbd-fuse has ended, which it does after its mount is gone; until then it watches the
// image, which nobody may remove.
func (d device) closed() bool {
	file, err := os.Open(d.lock())
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// shows is how long rbd-fuse may take to show an image's new size.
const shows = 10 * time.Second

// grow tells the kernel that the image has another size. One that has not grown is no error, as with krbd.
func (d device) grow(ctx context.Context, size uint64) (string, error) {
	path, err := d.path()
	if err != nil || !strings.HasPrefix(path, "/dev/loop") {
		return path, err
	}
	file := filepath.Join(d.mountPoint(), filepath.Base(d.folder))
	waiting, cancel := context.WithTimeout(ctx, shows)
	defer cancel()
	if err := await(waiting, func() bool { image, err := os.Stat(file); return err == nil && uint64(image.Size()) >= size }); err != nil {
		log.Printf("%s has less than %d bytes still", file, size)
	}
	_, err = node.Run(ctx, "losetup", "--set-capacity", path)
	return path, err
}

// Follow gives devices the sizes of their images for ever, as the kernel does when it hears of a new
// one. rbd-nbd does so by itself.
func (n *Node) Follow() {
	var looking sync.Map
	for range time.Tick(followEvery) {
		names, _ := filepath.Glob(filepath.Join(n.devices().folder, "*", "*", "*", "device")) // the pattern is right
		for _, name := range names {
			d := device{filepath.Dir(name)}
			if _, looks := looking.LoadOrStore(d, true); looks {
				continue // Ceph does not answer.
			}
			go func() {
				defer looking.Delete(d)
				if err := d.follow(); err != nil {
					log.Printf("size of %s: %v", d.folder, err)
				}
			}()
		}
	}
}

const followEvery = time.Second

func (d device) follow() error {
	path, err := d.path()
	if err != nil || !strings.HasPrefix(path, "/dev/loop") {
		return err
	}
	image, err := os.Stat(filepath.Join(d.mountPoint(), filepath.Base(d.folder)))
	if err != nil {
		return err
	}
	said, err := os.ReadFile("/sys/block/" + filepath.Base(path) + "/size")
	if err != nil {
		return err
	}
	const sector = 512
	if sectors := strconv.FormatInt(image.Size()/sector, 10); sectors == strings.TrimSpace(string(said)) {
		return nil
	}
	_, err = node.Run(context.Background(), "losetup", "--set-capacity", path)
	return err
}

// patience is how long rbd-fuse may take on a busy machine.
const patience = time.Minute

func await(ctx context.Context, reached func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
