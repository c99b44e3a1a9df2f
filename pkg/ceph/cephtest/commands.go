package cephtest

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// FSID is the ID of the cluster.
func (c *Client) FSID(ctx context.Context) (fsid string, err error) {
	err = c.run(ctx, "fsid", func(cluster *Cluster) error {
		fsid = cluster.fsid
		return nil
	})
	return fsid, err
}

// MonMap is the current map.
func (c *Client) MonMap(ctx context.Context) (m ceph.MonMap, err error) {
	err = c.run(ctx, "mon dump", func(cluster *Cluster) error {
		m = cluster.monMap()
		return nil
	})
	return m, err
}

// Version is the release of the mons.
func (c *Client) Version(ctx context.Context) (string, error) {
	return version, c.run(ctx, "version", func(*Cluster) error { return nil })
}

// Pools lists all pools.
func (c *Client) Pools(ctx context.Context) (pools []ceph.Pool, err error) {
	err = c.run(ctx, "osd pool ls", func(cluster *Cluster) error {
		pools = cluster.listPools()
		return nil
	})
	return pools, err
}

// CreatePool creates a pool unless it exists.
func (c *Client) CreatePool(ctx context.Context, name string) error {
	if err := ceph.CheckPoolName(name); err != nil {
		return err
	}
	pools, err := c.Pools(ctx)
	if err == nil && slices.ContainsFunc(pools, func(p ceph.Pool) bool { return p.Name == name }) {
		return nil
	}
	if err == nil {
		err = c.write(ctx, "osd pool create", func(cluster *Cluster) error {
			if cluster.pool(name) == nil {
				cluster.addPool(ceph.Pool{Name: name})
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("creating pool %q: %w", name, err)
	}
	return nil
}

// EnableApplication says what a pool is used for, unless the pool says so already.
func (c *Client) EnableApplication(ctx context.Context, pool, application string) error {
	if err := c.enableApplication(ctx, pool, application); err != nil {
		return fmt.Errorf("enabling application %s on pool %q: %w", application, pool, err)
	}
	return nil
}

func (c *Client) enableApplication(ctx context.Context, pool, application string) error {
	const prefix = "osd pool application enable"
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
	return c.write(ctx, prefix, func(cluster *Cluster) error {
		p := cluster.pool(pool)
		switch {
		case p == nil:
			return refusal(prefix, syscall.ENOENT, "unrecognized pool '"+pool+"'")
		case len(p.Applications) > 0:
			return refusal(prefix, syscall.EPERM, "Are you SURE? Pool '"+pool+"' already has an enabled application")
		}
		p.Applications = []string{application}
		return nil
	})
}

// FileSystems lists all filesystems.
func (c *Client) FileSystems(ctx context.Context) (filesystems []ceph.FileSystem, err error) {
	err = c.run(ctx, "fs dump", func(cluster *Cluster) error {
		filesystems = cluster.listFileSystems()
		return nil
	})
	return filesystems, err
}

// SubvolumeGroups lists the groups of a filesystem.
func (c *Client) SubvolumeGroups(ctx context.Context, filesystem string) (groups []string, err error) {
	filesystems, err := c.FileSystems(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(filesystems, func(f ceph.FileSystem) bool { return f.Name == filesystem })
	if i < 0 {
		return nil, ceph.ErrNotFound
	}
	if !filesystems[i].Active {
		return nil, ceph.ErrNoActiveMDS
	}
	err = c.run(ctx, "fs subvolumegroup ls", func(cluster *Cluster) error {
		groups = slices.Clone(cluster.groups[filesystem])
		return nil
	})
	return groups, err
}

// EnsureSubvolumeGroup creates the group unless it exists.
func (c *Client) EnsureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	if err := c.ensureSubvolumeGroup(ctx, filesystem, group); err != nil {
		return fmt.Errorf("creating subvolume group %q of filesystem %q: %w", group, filesystem, err)
	}
	return nil
}

func (c *Client) ensureSubvolumeGroup(ctx context.Context, filesystem, group string) error {
	groups, err := c.SubvolumeGroups(ctx, filesystem)
	if err != nil || slices.Contains(groups, group) {
		return err
	}
	return c.write(ctx, "fs subvolumegroup create", func(cluster *Cluster) error {
		if !slices.Contains(cluster.groups[filesystem], group) {
			cluster.groups[filesystem] = append(cluster.groups[filesystem], group)
		}
		return nil
	})
}
