//go:build cgo

package rados

import (
	"context"
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Versions are the releases of all running daemons.
func (c *Conn) Versions(ctx context.Context) (ceph.Versions, error) {
	output, err := c.mon(ctx, "versions", nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the versions of Ceph's daemons: %w", err)
	}
	return ceph.ParseVersions(output)
}

// Quorum names the mons in quorum.
func (c *Conn) Quorum(ctx context.Context) ([]string, error) {
	output, err := c.mon(ctx, "quorum_status", nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the quorum: %w", err)
	}
	return ceph.ParseQuorum(output)
}

// Clocks are what the leader of the mons measured of the others.
func (c *Conn) Clocks(ctx context.Context) ([]ceph.Clock, error) {
	output, err := c.mon(ctx, "time-sync-status", nil)
	if err != nil {
		return nil, fmt.Errorf("asking for the mons' clocks: %w", err)
	}
	return ceph.ParseClocks(output)
}

// Capacities are how full the pools are.
func (c *Conn) Capacities(ctx context.Context) ([]ceph.Capacity, error) {
	output, err := c.mon(ctx, "df", arguments{"detail": "detail"})
	if err != nil {
		return nil, fmt.Errorf("asking how full the pools are: %w", err)
	}
	return ceph.ParseCapacities(output)
}

// ClientOption is what Ceph's configuration has for all clients. The user needs mon caps "allow r".
func (c *Conn) ClientOption(ctx context.Context, name string) (string, error) {
	output, err := c.mon(ctx, "config get", arguments{"who": "client", "key": name})
	if err != nil {
		return "", fmt.Errorf("asking for option %s: %w", name, err)
	}
	return strings.Trim(string(output), "\"\n"), nil // Ceph does not write JSON for one option.
}

// FilesystemPools are the pools of all filesystems. The user needs mon caps "allow r".
func (c *Conn) FilesystemPools(ctx context.Context) ([]ceph.FilesystemPools, error) {
	output, err := c.mon(ctx, "fs ls", nil)
	if err != nil {
		return nil, fmt.Errorf("listing the pools of filesystems: %w", err)
	}
	return ceph.ParseFilesystemPools(output)
}
