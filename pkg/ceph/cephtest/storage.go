package cephtest

import (
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// AddPool adds a pool; its ID is given by the cluster.
func (c *Cluster) AddPool(pool ceph.Pool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addPool(pool)
}

func (c *Cluster) addPool(pool ceph.Pool) {
	c.poolsMade++
	pool.ID = c.poolsMade
	pool.Applications = slices.Sorted(slices.Values(pool.Applications))
	c.pools = append(c.pools, pool)
}

// RemovePool removes a pool, whoever uses it.
func (c *Cluster) RemovePool(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pools = slices.DeleteFunc(c.pools, func(p ceph.Pool) bool { return p.Name == name })
}

// Pools lists the pools as a client sees them.
func (c *Cluster) Pools() []ceph.Pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listPools()
}

func (c *Cluster) listPools() []ceph.Pool {
	pools := slices.Clone(c.pools)
	for i := range pools {
		pools[i].Applications = slices.Clone(pools[i].Applications)
	}
	return pools
}

// pool finds a pool to be changed; nil when there is none.
func (c *Cluster) pool(name string) *ceph.Pool {
	for i := range c.pools {
		if c.pools[i].Name == name {
			return &c.pools[i]
		}
	}
	return nil
}

// AddFileSystem adds a filesystem without pools, with an active MDS or none.
func (c *Cluster) AddFileSystem(name string, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fsMade++
	c.filesystems = append(c.filesystems, ceph.FileSystem{ID: c.fsMade, Name: name, Active: active})
}

// SetActive starts or stops the MDS of a filesystem.
func (c *Cluster) SetActive(name string, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.filesystems {
		if c.filesystems[i].Name == name {
			c.filesystems[i].Active = active
		}
	}
}

// RemoveFileSystem removes a filesystem with its groups.
func (c *Cluster) RemoveFileSystem(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filesystems = slices.DeleteFunc(c.filesystems, func(f ceph.FileSystem) bool { return f.Name == name })
	delete(c.groups, name)
}

// Groups lists the subvolume groups of a filesystem.
func (c *Cluster) Groups(filesystem string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.groups[filesystem])
}
