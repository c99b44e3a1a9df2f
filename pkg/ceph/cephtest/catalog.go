package cephtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// SetDataPool says that another pool has the data of an image that exists.
func (c *Cluster) SetDataPool(at ceph.ImagePlace, pool string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.volumes.images[c.object(at.Pool, at.Namespace, at.Name)].dataPool = c.pool(pool).ID
}

// ImageNamespaces lists the RADOS namespaces of a pool that images can be in.
func (c *Client) ImageNamespaces(ctx context.Context, pool string) (names []string, err error) {
	err = c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkObjects("namespace ls", pool, false); err != nil {
			return err
		}
		names = append([]string{""}, slices.Sorted(slices.Values(cluster.namespaces[cluster.pool(pool).ID]))...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the RADOS namespaces of pool %q: %w", pool, err)
	}
	return names, nil
}

// Images reads all images in a RADOS namespace of a pool, as far as they are known here.
func (c *Client) Images(ctx context.Context, pool ceph.Pool, namespace string) (found []ceph.RBDImage, err error) {
	err = c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkObjects(readImage, pool.Name, false); err != nil {
			return err
		}
		for at, i := range cluster.volumes.images {
			if at.pool == pool.ID && at.namespace == namespace {
				found = append(found, ceph.RBDImage{
					ImageRef: ceph.ImageRef{PoolID: pool.ID, Namespace: namespace, ID: i.id}, Pool: pool.Name, Name: at.name,
					Listed: true, Header: true, DataPool: i.dataPool, Metadata: maps.Clone(i.values),
				})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the images in %s: %w", pool.Name, err)
	}
	slices.SortFunc(found, func(a, b ceph.RBDImage) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// Subvolumes lists the subvolumes of a group, those of which only snapshots are left, too.
func (c *Client) Subvolumes(ctx context.Context, filesystem, group string) (names []string, err error) {
	if err := c.checkActive(ctx, filesystem); err != nil {
		return nil, fmt.Errorf("listing the subvolumes of filesystem %q: %w", filesystem, err)
	}
	err = c.run(ctx, "fs subvolume ls", func(cluster *Cluster) error {
		for at := range cluster.volumes.subvolumes {
			if at.Filesystem == filesystem && at.Group == group && !slices.Contains(names, at.Name) {
				names = append(names, at.Name)
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}
