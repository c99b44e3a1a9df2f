package cephtest

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// changePool runs a command that changes one pool.
func (c *Client) changePool(ctx context.Context, prefix, name string, change func(*ceph.Pool) error) error {
	return c.write(ctx, prefix, func(cluster *Cluster) error {
		p := cluster.pool(name)
		if p == nil {
			return refusal(prefix, syscall.ENOENT, "unrecognized pool '"+name+"'")
		}
		return change(p)
	})
}

// SetNoDelete sets or clears the flag that keeps a pool from being removed.
func (c *Client) SetNoDelete(ctx context.Context, pool string, on bool) error {
	err := c.changePool(ctx, "osd pool set", pool, func(p *ceph.Pool) error {
		p.NoDelete = on
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting nodelete of pool %q to %t: %w", pool, on, err)
	}
	return nil
}

// MostKeys is how many keys an application of a pool can have.
const MostKeys = 64

// SetPoolMetadata leaves a key with an application of a pool, which must be enabled.
func (c *Client) SetPoolMetadata(ctx context.Context, pool, application, key, value string) error {
	const prefix = "osd pool application set"
	err := c.changePool(ctx, prefix, pool, func(p *ceph.Pool) error {
		if !slices.Contains(p.Applications, application) {
			return refusal(prefix, syscall.ENOENT, "application '"+application+"' is not enabled on pool '"+pool+"'")
		}
		if p.Metadata == nil {
			p.Metadata = map[string]map[string]string{}
		}
		if p.Metadata[application] == nil {
			p.Metadata[application] = map[string]string{}
		}
		if _, found := p.Metadata[application][key]; !found && len(p.Metadata[application]) >= MostKeys {
			return refusal(prefix, syscall.EINVAL, fmt.Sprintf("too many keys set for application '%s' on pool '%s'; max %d", application, pool, MostKeys))
		}
		p.Metadata[application][key] = value
		return nil
	})
	if err != nil {
		return fmt.Errorf("setting key %s of pool %q: %w", key, pool, err)
	}
	return nil
}

// RemovePoolMetadata takes a key away, if it is there.
func (c *Client) RemovePoolMetadata(ctx context.Context, pool, application, key string) error {
	const prefix = "osd pool application rm"
	err := c.changePool(ctx, prefix, pool, func(p *ceph.Pool) error {
		if !slices.Contains(p.Applications, application) {
			return refusal(prefix, syscall.ENOENT, "application '"+application+"' is not enabled on pool '"+pool+"'")
		}
		delete(p.Metadata[application], key)
		if len(p.Metadata[application]) == 0 {
			delete(p.Metadata, application)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing key %s of pool %q: %w", key, pool, err)
	}
	return nil
}
