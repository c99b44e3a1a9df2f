package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

const (
	// DefaultSubvolumeGroup is the group that ceph-csi uses unless config.json names another.
	DefaultSubvolumeGroup = "csi"

	cephFSApplication           = "cephfs"
	filesystemParameter         = "fsName"
	kernelMountOptionsParameter = "kernelMountOptions"
	filesystemAdvice            = "name a filesystem in spec.driverConfig.ceph.filesystem of ClusterCSIDriver " + cephFSName
)

// subvolumes is the Storage of CephFS: subvolumes in a group of a filesystem.
type subvolumes struct{}

// Place takes the wished filesystem or the only one, and ensures the group. It creates no
// filesystem.
func (subvolumes) Place(ctx context.Context, cluster Ceph, wish Wish) (ceph.Placement, error) {
	filesystems, err := cluster.FileSystems(ctx)
	if err != nil {
		return ceph.Placement{}, err
	}
	filesystem, err := chooseFilesystem(filesystems, wish)
	if err != nil {
		return ceph.Placement{}, err
	}
	if !filesystem.Active {
		return ceph.Placement{}, fmt.Errorf("filesystem %q: %w; start an MDS for it and check `ceph fs status %s`",
			filesystem.Name, ceph.ErrNoActiveMDS, shell.Quote(filesystem.Name))
	}
	group := cmp.Or(wish.SubvolumeGroup, DefaultSubvolumeGroup)
	err = cluster.EnsureSubvolumeGroup(ctx, filesystem.Name, group)
	if errors.Is(err, ceph.ErrTimeout) {
		// The mons answered a moment ago, so nobody else reports this one.
		err = fmt.Errorf("%w: subvolume group %q of filesystem %q cannot be created; check 'ceph mgr stat'",
			ErrNoManager, group, filesystem.Name)
	}
	if err != nil {
		return ceph.Placement{}, err
	}
	return ceph.Placement{FSID: wish.FSID, Filesystem: filesystem.Name, SubvolumeGroup: group, JournalNamespace: wish.JournalNamespace}, nil
}

func (subvolumes) Parameters(place ceph.Placement) map[string]string {
	return map[string]string{clusterIDParameter: place.FSID, filesystemParameter: place.Filesystem}
}

// KernelOptions has those of config.json, which ceph-csi adds to those of a volume (setMountOptions in its
// internal/cephfs/nodeserver.go).
func (subvolumes) KernelOptions(parameters map[string]string, s Settings) string {
	return parameters[kernelMountOptionsParameter] + "," + s.KernelMountOptions
}

func (subvolumes) Options(s Settings) map[string]string {
	return withoutEmpty(map[string]string{
		mounterParameter: s.Mounter, kernelMountOptionsParameter: s.KernelMountOptions, "fuseMountOptions": s.FuseMountOptions,
	})
}

// FromParameters leaves the group empty: it stands in config.json, not in classes.
func (subvolumes) FromParameters(parameters map[string]string) ceph.Placement {
	return ceph.Placement{FSID: parameters[clusterIDParameter], Filesystem: parameters[filesystemParameter]}
}

// createFilesystem is what an administrator runs to make a filesystem.
func createFilesystem(name string) string {
	return shell.Command("ceph", "fs", "volume", "create", name)
}

func chooseFilesystem(filesystems []ceph.FileSystem, wish Wish) (ceph.FileSystem, error) {
	switch {
	case len(filesystems) == 0 && wish.Filesystem == "":
		return ceph.FileSystem{}, fmt.Errorf("%w; create one with `%s`", ErrNoFilesystem, createFilesystem("cephfs"))
	case len(filesystems) == 0:
		return ceph.FileSystem{}, fmt.Errorf("%w; create %q, which %s names, with `%s`", ErrNoFilesystem, wish.Filesystem, wish.Origin, createFilesystem(wish.Filesystem))
	}
	names := make([]string, 0, len(filesystems))
	for _, f := range filesystems {
		names = append(names, f.Name)
	}
	if wish.Filesystem == "" && len(filesystems) > 1 {
		return ceph.FileSystem{}, fmt.Errorf("%w: there are several (%s); %s", ErrFilesystemUnclear, quoted(names), filesystemAdvice)
	}
	if wish.Filesystem == "" {
		return filesystems[0], nil
	}
	i := slices.Index(names, wish.Filesystem)
	if i < 0 {
		return ceph.FileSystem{}, fmt.Errorf("%w: filesystem %q, named by %s, does not exist; filesystems: %s; %s, or create it with `%s`",
			ErrFilesystemUnclear, wish.Filesystem, wish.Origin, quoted(names), filesystemAdvice, createFilesystem(wish.Filesystem))
	}
	return filesystems[i], nil
}

// Untagged are the commands that give a filesystem's pools the keys by which caps such as "tag cephfs data=<name>" find
// them, and what is wrong without. `ceph fs new` and `ceph fs add_data_pool` write these keys; in old releases they did not.
func Untagged(pools []ceph.Pool, filesystem ceph.FileSystem) (why string, commands []string) {
	for _, p := range pools {
		key := "data"
		if p.ID == filesystem.MetadataPool {
			key = "metadata"
		} else if !slices.Contains(filesystem.DataPools, p.ID) {
			continue
		}
		if p.Metadata[cephFSApplication][key] == filesystem.Name {
			continue
		}
		if !slices.Contains(p.Applications, cephFSApplication) {
			commands = append(commands, shell.Command("ceph", "osd", "pool", "application", "enable", p.Name, cephFSApplication))
		}
		commands = append(commands, shell.Command("ceph", "osd", "pool", "application", "set", p.Name, cephFSApplication, key, filesystem.Name))
	}
	return fmt.Sprintf("pools of filesystem %q lack Ceph's own keys, by which the caps of the drivers' users find them", filesystem.Name), commands
}
