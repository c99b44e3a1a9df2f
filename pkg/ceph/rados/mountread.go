//go:build cgo

package rados

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ceph/go-ceph/cephfs"
	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// noGroup is the directory of subvolumes without a group.
const noGroup = "_nogroup"

// home is the folder that the mgr makes for a subvolume.
func home(group, name string) string {
	return path.Join("/volumes", cmp.Or(group, noGroup), name)
}

// look reads something of a file or folder.
func look[T any](ctx context.Context, m *Mount, name string, read func(*cephfs.MountInfo, string) (T, error)) (T, error) {
	found, err := call(ctx, m.session, func(*rados.Conn) (T, error) { return read(m.mount, name) })
	if err != nil {
		return found, fmt.Errorf("reading %s of filesystem %q: %w", name, m.filesystem, err)
	}
	return found, nil
}

// SubvolumeMeta reads the file in which the mgr keeps what it knows of a subvolume, also of a
// retained one and of a clone in flight. What the mgr wrote a moment ago takes the MDS up to 5 s.
func (m *Mount) SubvolumeMeta(ctx context.Context, group, name string) (ceph.SubvolumeMeta, error) {
	content, err := look(ctx, m, path.Join(home(group, name), ".meta"), readFile)
	if err != nil {
		return ceph.SubvolumeMeta{}, err
	}
	return ceph.ParseSubvolumeMeta(content)
}

// SubvolumeSnapshots lists the snapshots of a subvolume whose .meta has version 2, also of a
// retained one, without those of the folders above it.
func (m *Mount) SubvolumeSnapshots(ctx context.Context, group, name string) ([]string, error) {
	return look(ctx, m, path.Join(home(group, name), ceph.SnapshotsDirectory), snapshotNames)
}

// SubvolumeFolder reads the folder with a subvolume's data, Path of its .meta.
func (m *Mount) SubvolumeFolder(ctx context.Context, folder string) (ceph.SubvolumeFolder, error) {
	return look(ctx, m, folder, readFolder)
}

// maxMetaFile bounds what is read of one file.
const maxMetaFile = 8 << 20

func readFile(mount *cephfs.MountInfo, name string) ([]byte, error) {
	file, err := mount.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, failure("open", "", err)
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxMetaFile))
	if err != nil {
		return nil, failure("read", "", err)
	}
	return content, nil
}

// snapshotNames: CephFS lists a snapshot of a folder above as _<its name>_<number>, and the mgr lets
// nobody begin a name with "_".
func snapshotNames(mount *cephfs.MountInfo, folder string) ([]string, error) {
	directory, err := mount.OpenDir(folder)
	if err != nil {
		return nil, failure("opendir", "", err)
	}
	defer directory.Close()
	var names []string
	for {
		entry, err := directory.ReadDir()
		if err != nil {
			return nil, failure("readdir", "", err)
		}
		if entry == nil {
			return names, nil
		}
		if name := entry.Name(); name != "." && name != ".." && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
}

// quotaAttribute is missing where there is no quota.
const quotaAttribute = "ceph.quota.max_bytes"

func readFolder(mount *cephfs.MountInfo, name string) (ceph.SubvolumeFolder, error) {
	stat, err := mount.Statx(name, cephfs.StatxBtime, 0)
	if err != nil {
		return ceph.SubvolumeFolder{}, failure("statx", "", err)
	}
	out := ceph.SubvolumeFolder{Created: time.Unix(stat.Btime.Sec, 0).UTC()}
	quota, err := mount.GetXattr(name, quotaAttribute)
	if number(err) == -int(syscall.ENODATA) {
		return out, nil
	}
	if err != nil {
		return out, failure("getxattr", "", err)
	}
	if out.Size, err = strconv.ParseInt(string(quota), 10, 64); err != nil {
		return out, fmt.Errorf("attribute %s: %w", quotaAttribute, err)
	}
	return out, nil
}
