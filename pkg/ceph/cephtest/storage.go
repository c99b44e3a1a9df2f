package cephtest

import (
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// emptyPool is what a new pool has room for.
const emptyPool = 1 << 30

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
	c.capacities[pool.ID] = ceph.Capacity{Available: emptyPool}
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
		metadata := map[string]map[string]string{}
		for application, keys := range pools[i].Metadata {
			metadata[application] = maps.Clone(keys)
		}
		if pools[i].Metadata = metadata; len(metadata) == 0 {
			pools[i].Metadata = nil
		}
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

// RenamePool gives a pool another name; ID, flags and metadata stay.
func (c *Cluster) RenamePool(from, to string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pool(from); p != nil {
		p.Name = to
	}
}

// SetCapacity says how full a pool is.
func (c *Cluster) SetCapacity(name string, stored, available uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pool(name); p != nil {
		c.capacities[p.ID] = ceph.Capacity{Stored: stored, Available: available}
	}
}

// SetNoDelete is what an administrator does with the pool's flag.
func (c *Cluster) SetNoDelete(name string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pool(name); p != nil {
		p.NoDelete = on
	}
}

// SetPoolMetadata is what another client writes into the metadata of an application of a pool.
func (c *Cluster) SetPoolMetadata(pool, application, key, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pool(pool)
	if p.Metadata == nil {
		p.Metadata = map[string]map[string]string{}
	}
	if p.Metadata[application] == nil {
		p.Metadata[application] = map[string]string{}
	}
	p.Metadata[application][key] = value
}

// AddFileSystem adds a filesystem with two pools, "<name>-metadata" and "<name>-data", and
// with an active MDS or none. The first one is the default.
func (c *Cluster) AddFileSystem(name string, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addPool(ceph.Pool{Name: name + "-metadata", Applications: []string{"cephfs"}, Metadata: map[string]map[string]string{"cephfs": {"metadata": name}}})
	metadata := c.poolsMade
	c.addPool(ceph.Pool{Name: name + "-data", Applications: []string{"cephfs"}, Metadata: map[string]map[string]string{"cephfs": {"data": name}}})
	c.fsMade++
	c.filesystems = append(c.filesystems, ceph.FileSystem{
		ID: c.fsMade, Name: name, Active: active, Default: c.fsMade == 1, MetadataPool: metadata, DataPools: []int64{c.poolsMade}, Ranks: ranks(active, false),
	})
}

func (c *Cluster) listFileSystems() []ceph.FileSystem {
	filesystems := slices.Clone(c.filesystems)
	for i := range filesystems {
		filesystems[i].DataPools = slices.Clone(filesystems[i].DataPools)
	}
	return filesystems
}

// ranks are those of a filesystem whose MDS holds its only one, held it before, or has never been.
func ranks(active, before bool) []ceph.Rank {
	switch {
	case active:
		return []ceph.Rank{{MDS: mdsID}}
	case before:
		return []ceph.Rank{{}}
	}
	return nil
}

const mdsID = 4242

// SetActive starts or stops the MDS of a filesystem.
func (c *Cluster) SetActive(name string, active bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.filesystems {
		if c.filesystems[i].Name == name {
			c.filesystems[i].Active = active
			c.filesystems[i].Ranks = ranks(active, len(c.filesystems[i].Ranks) > 0)
		}
	}
}

// RemoveFileSystem removes a filesystem with its groups; its pools stay.
func (c *Cluster) RemoveFileSystem(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.filesystems = slices.DeleteFunc(c.filesystems, func(f ceph.FileSystem) bool { return f.Name == name })
	delete(c.groups, name)
}

// AddGroup adds a subvolume group.
func (c *Cluster) AddGroup(filesystem, group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.groups[filesystem] = append(c.groups[filesystem], group)
}

// Groups lists the subvolume groups of a filesystem.
func (c *Cluster) Groups(filesystem string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.groups[filesystem])
}
