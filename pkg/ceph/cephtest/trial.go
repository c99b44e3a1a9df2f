package cephtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Trials are all that Try is asked for; the pool of TryFlatten must exist.
func Trials(pool string) []ceph.Trial {
	return []ceph.Trial{
		ceph.TryGetUser, ceph.TryMakeUser, ceph.TrySetCaps, ceph.TryBlocklist, ceph.TryCreatePool,
		ceph.TryEnableApplication, ceph.TrySetApplication, ceph.TryProtectPool,
		ceph.TryMakeGroup, ceph.TryMakeSubvolume, ceph.TryFlatten(pool),
	}
}

// Try returns nil when the user may send the command of a trial.
func (c *Client) Try(ctx context.Context, trial ceph.Trial) error {
	err := c.run(ctx, trial.Prefix, func(*Cluster) error { return nil })
	if err != nil {
		return fmt.Errorf("trying whether the user may send %q: %w", trial.Prefix, err)
	}
	return nil
}

// ObjectRights tells what the user may do with the objects of a pool.
func (c *Client) ObjectRights(ctx context.Context, pool, _ string) (rights ceph.ObjectRights, err error) {
	const prefix = "fsid" // which every session may ask for
	err = c.run(ctx, prefix, func(cluster *Cluster) error {
		ofFilesystem := slices.ContainsFunc(cluster.filesystems, func(f ceph.FileSystem) bool {
			pools := filesystemPools(f.Name)
			return pool == pools.Metadata || slices.Contains(pools.Data, pool)
		})
		if cluster.pool(pool) == nil && !ofFilesystem {
			return refusal("open pool", syscall.ENOENT, "")
		}
		rights = c.rights.objects(pool, ofFilesystem)
		return nil
	})
	if err != nil {
		return ceph.ObjectRights{}, fmt.Errorf("trying what the user may do in pool %q: %w", pool, err)
	}
	return rights, nil
}

// objects are a user's rights to the objects of a pool, as far as this module's caps go.
func (u user) objects(pool string, ofFilesystem bool) ceph.ObjectRights {
	var rights ceph.ObjectRights
	for _, grant := range strings.Split(u.caps.OSD, ", ") {
		all := slices.Contains([]string{"allow *", "profile rbd", "profile rbd pool=" + pool}, grant) ||
			ofFilesystem && strings.HasPrefix(grant, "allow rw tag cephfs")
		rights.Write = rights.Write || all
		rights.Read = rights.Read || all || grant == "allow r"
	}
	return rights
}
