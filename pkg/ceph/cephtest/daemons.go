package cephtest

import (
	"context"
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// daemons is what the cluster tells about its daemons, as far as it is not as it should be.
type daemons struct {
	// dead are mons that are in the monmap and do not run.
	dead map[string]bool
	// versions, when set, replace those of daemons that are all alike.
	versions ceph.Versions
	// options of clients are what Ceph's configuration has.
	options map[string]string
	// skews are clocks that the mons complain of.
	skews map[string]float64
}

// KillMon stops a mon, which stays in the monmap; StartMon starts it again.
func (c *Cluster) KillMon(name string) { c.setDead(name, true) }

// StartMon starts a killed mon.
func (c *Cluster) StartMon(name string) { c.setDead(name, false) }

func (c *Cluster) setDead(name string, dead bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.daemons.dead == nil {
		c.daemons.dead = map[string]bool{}
	}
	c.daemons.dead[name] = dead
}

// SetVersions says which releases run.
func (c *Cluster) SetVersions(versions ceph.Versions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.daemons.versions = versions
}

// SetOption is `ceph config set client` of an administrator.
func (c *Cluster) SetOption(name, value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.daemons.options == nil {
		c.daemons.options = map[string]string{}
	}
	c.daemons.options[name] = value
}

// SkewClock puts the clock of a mon wrong by seconds.
func (c *Cluster) SkewClock(mon string, seconds float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.daemons.skews == nil {
		c.daemons.skews = map[string]float64{}
	}
	c.daemons.skews[mon] = seconds
}

// Alive says whether a running mon has the address.
func (c *Cluster) Alive(address ceph.Address) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.mons, func(m ceph.Mon) bool {
		return !c.daemons.dead[m.Name] && slices.Contains(m.Addrs, address)
	})
}

func (c *Cluster) quorum() []string {
	var names []string
	for _, mon := range c.monMap().Mons {
		if !c.daemons.dead[mon.Name] {
			names = append(names, mon.Name)
		}
	}
	return names
}

// Versions are the releases of all running daemons.
func (c *Client) Versions(ctx context.Context) (versions ceph.Versions, err error) {
	err = c.run(ctx, "versions", func(cluster *Cluster) error {
		versions = ceph.Versions{"mon": {version: len(cluster.quorum())}, "mgr": {version: 1}, "osd": {version: 1}}
		if cluster.daemons.versions != nil {
			versions = maps.Clone(cluster.daemons.versions)
		}
		return nil
	})
	return versions, err
}

// ClientOption is what Ceph's configuration has for clients.
func (c *Client) ClientOption(ctx context.Context, name string) (value string, err error) {
	err = c.run(ctx, "config get", func(cluster *Cluster) error {
		value = cluster.daemons.options[name]
		return nil
	})
	return value, err
}

// Capacities are how full the pools are.
func (c *Client) Capacities(ctx context.Context) (out []ceph.Capacity, err error) {
	err = c.run(ctx, "df", func(cluster *Cluster) error {
		for _, p := range cluster.pools {
			capacity := cluster.capacities[p.ID]
			capacity.PoolID, capacity.Pool = p.ID, p.Name
			out = append(out, capacity)
		}
		return nil
	})
	return out, err
}

// Quorum names the mons in quorum.
func (c *Client) Quorum(ctx context.Context) (names []string, err error) {
	err = c.run(ctx, "quorum_status", func(cluster *Cluster) error {
		names = cluster.quorum()
		return nil
	})
	return names, err
}

// Clocks are those of the mons in quorum.
func (c *Client) Clocks(ctx context.Context) (clocks []ceph.Clock, err error) {
	err = c.run(ctx, "time-sync-status", func(cluster *Cluster) error {
		for _, name := range cluster.quorum() {
			skew := cluster.daemons.skews[name]
			clocks = append(clocks, ceph.Clock{Mon: name, Skew: skew, OK: skew == 0})
		}
		return nil
	})
	return clocks, err
}

// FilesystemPools are the pools of all filesystems.
func (c *Client) FilesystemPools(ctx context.Context) (pools []ceph.FilesystemPools, err error) {
	err = c.run(ctx, "fs ls", func(cluster *Cluster) error {
		for _, fs := range cluster.filesystems {
			pools = append(pools, filesystemPools(fs.Name))
		}
		return nil
	})
	return pools, err
}

func filesystemPools(name string) ceph.FilesystemPools {
	return ceph.FilesystemPools{Filesystem: name, Metadata: name + "-metadata", Data: []string{name + "-data"}}
}
