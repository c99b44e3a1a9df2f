//go:build cgo

package rados

import (
	"context"
	"fmt"
	"slices"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// FSID is the ID of the Ceph cluster. librados remembers it: it is no proof of life.
func (c *Conn) FSID(ctx context.Context) (string, error) {
	fsid, err := call(ctx, c, func(conn *rados.Conn) (string, error) {
		fsid, err := conn.GetFSID()
		if err != nil {
			return "", failure("fsid", "", err)
		}
		return fsid, nil
	})
	if err != nil {
		return "", fmt.Errorf("asking for the fsid: %w", err)
	}
	return fsid, nil
}

// checkFSID returns ErrOtherCluster unless the cluster is the declared one; librados does
// not compare. An empty declaration fits every cluster.
func (c *Conn) checkFSID(ctx context.Context, declared string) error {
	fsid, err := c.FSID(ctx)
	if err != nil {
		return err
	}
	if declared != "" && declared != fsid {
		return fmt.Errorf("%w: the mons belong to %s, but %s is declared", ceph.ErrOtherCluster, fsid, declared)
	}
	return nil
}

// MonMap asks the mons for their map.
func (c *Conn) MonMap(ctx context.Context) (ceph.MonMap, error) {
	output, err := c.mon(ctx, "mon dump", nil)
	if err != nil {
		return ceph.MonMap{}, fmt.Errorf("asking for the monmap: %w", err)
	}
	return ceph.ParseMonDump(output)
}

// Version is the release of the mon that answers, such as "16.2.15".
func (c *Conn) Version(ctx context.Context) (string, error) {
	output, err := c.mon(ctx, "version", nil)
	if err != nil {
		return "", fmt.Errorf("asking for the version of Ceph: %w", err)
	}
	return ceph.ParseVersion(output)
}

// Pools lists all pools, ordered by ID.
func (c *Conn) Pools(ctx context.Context) ([]ceph.Pool, error) {
	output, err := c.mon(ctx, "osd pool ls", arguments{"detail": "detail"})
	if err != nil {
		return nil, fmt.Errorf("listing pools: %w", err)
	}
	return ceph.ParsePools(output)
}

// CreatePool creates a replicated pool with the Ceph cluster's defaults, unless it exists.
// It has no application yet.
func (c *Conn) CreatePool(ctx context.Context, name string) error {
	if err := ceph.CheckPoolName(name); err != nil {
		return err
	}
	pools, err := c.Pools(ctx)
	if err != nil {
		return fmt.Errorf("creating pool %q: %w", name, err)
	}
	if slices.ContainsFunc(pools, func(p ceph.Pool) bool { return p.Name == name }) {
		return nil
	}
	_, err = c.mon(ctx, "osd pool create", arguments{"pool": name, "pool_type": "replicated"})
	if err != nil {
		return fmt.Errorf("creating pool %q: %w", name, err)
	}
	return nil
}

// EnableApplication says what a pool is used for, unless the pool says so already. Ceph
// denies a second application.
func (c *Conn) EnableApplication(ctx context.Context, pool, application string) error {
	if err := c.enableApplication(ctx, pool, application); err != nil {
		return fmt.Errorf("enabling application %s on pool %q: %w", application, pool, err)
	}
	return nil
}

func (c *Conn) enableApplication(ctx context.Context, pool, application string) error {
	pools, err := c.Pools(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.Name == pool })
	if i < 0 {
		return ceph.ErrNotFound
	}
	if slices.Contains(pools[i].Applications, application) {
		return nil
	}
	_, err = c.mon(ctx, "osd pool application enable", arguments{"pool": pool, "app": application})
	return err
}

// FileSystems lists all CephFS filesystems. The user needs mon caps "allow r".
func (c *Conn) FileSystems(ctx context.Context) ([]ceph.FileSystem, error) {
	output, err := c.mon(ctx, "fs dump", nil)
	if err != nil {
		return nil, fmt.Errorf("listing filesystems: %w", err)
	}
	return ceph.ParseFileSystems(output)
}

// EnsureSubvolumeGroup creates the group unless it exists. Without an active MDS it returns
// ErrNoActiveMDS and asks nothing, because the mgr would hang for everyone.
func (c *Conn) EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	if err := c.ensureSubvolumeGroup(ctx, filesystem, group); err != nil {
		return fmt.Errorf("creating subvolume group %q of filesystem %q: %w", group, filesystem, err)
	}
	return nil
}

// checkActive returns ErrNotFound or ErrNoActiveMDS for a filesystem that group commands
// cannot work on.
func (c *Conn) checkActive(ctx context.Context, filesystem string) error {
	filesystems, err := c.FileSystems(ctx)
	if err != nil {
		return err
	}
	return ceph.CheckActive(filesystems, filesystem)
}

func (c *Conn) ensureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return err
	}
	output, err := c.mgr(ctx, "fs subvolumegroup ls", arguments{"vol_name": filesystem})
	if err != nil {
		return err
	}
	groups, err := ceph.ParseSubvolumeGroups(output)
	if err != nil || slices.Contains(groups, group) {
		return err
	}
	_, err = c.mgr(ctx, "fs subvolumegroup create", arguments{"vol_name": filesystem, "group_name": group})
	return err
}
