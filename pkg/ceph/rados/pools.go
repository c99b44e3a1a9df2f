//go:build cgo

package rados

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// SetNoDelete sets or clears the flag that keeps a pool from being removed. Ceph makes a new
// epoch of its osdmap even where nothing changes: read before.
func (c *Conn) SetNoDelete(ctx context.Context, pool string, on bool) error {
	_, err := c.mon(ctx, "osd pool set", arguments{"pool": pool, "var": "nodelete", "val": fmt.Sprint(on)})
	if err != nil {
		return fmt.Errorf("setting nodelete of pool %q to %t: %w", pool, on, err)
	}
	return nil
}

// SetPoolMetadata leaves a key with an application of a pool, which must be enabled. Ceph
// makes a new epoch of its osdmap even where nothing changes: read before.
func (c *Conn) SetPoolMetadata(ctx context.Context, pool, application, key, value string) error {
	_, err := c.mon(ctx, "osd pool application set", arguments{"pool": pool, "app": application, "key": key, "value": value})
	if err != nil {
		return fmt.Errorf("setting key %s of pool %q: %w", key, pool, err)
	}
	return nil
}

// RemovePoolMetadata takes a key away, if it is there.
func (c *Conn) RemovePoolMetadata(ctx context.Context, pool, application, key string) error {
	_, err := c.mon(ctx, "osd pool application rm", arguments{"pool": pool, "app": application, "key": key})
	if err != nil {
		return fmt.Errorf("removing key %s of pool %q: %w", key, pool, err)
	}
	return nil
}

// SubvolumeGroups lists the groups of a filesystem. Without an active MDS it returns
// ErrNoActiveMDS and asks nothing, because the mgr would hang for everyone.
func (c *Conn) SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("listing the subvolume groups of filesystem %q: %w", filesystem, err)
	}
	output, err := c.mgr(ctx, "fs subvolumegroup ls", arguments{"vol_name": filesystem})
	if err != nil {
		return nil, fmt.Errorf("listing the subvolume groups of filesystem %q: %w", filesystem, err)
	}
	return ceph.ParseSubvolumeGroups(output)
}
