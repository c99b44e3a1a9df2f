package pools

import (
	"context"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// inUse names the pools that a user wants or has claimed, of those that show it, sorted. A pool whose
// claim the operator may not write is in use all the same.
func inUse(pools []ceph.Pool, wanted map[int64]wishes, u user) []string {
	names := []string{}
	for _, p := range pools {
		own := read(p, u).own
		if ceph.ShowsPresence(p) && (wanted[p.ID] != gone || own != "" && own != leaving) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

// observe finds the claims of an earlier time where nothing may be done that tells more.
func (c *Care) observe(ctx context.Context, clusters []ceph.Cluster, infraID string) error {
	ctx, cancel := context.WithTimeout(ctx, careDeadline)
	defer cancel()
	for _, cluster := range clusters {
		v := c.view(cluster.FSID)
		client, live := c.Client(cluster.FSID)
		if !live || v.used != nil {
			continue
		}
		pools, err := client.Pools(ctx)
		if ceph.NoAnswer(err) {
			continue
		}
		if err != nil {
			return err
		}
		v.used = inUse(pools, nil, user{infraID, c.Driver.Kind})
	}
	c.tellUsed(clusters)
	return nil
}

func (c *Care) tellUsed(clusters []ceph.Cluster) {
	used := map[string][]string{}
	for _, cluster := range clusters {
		if v := c.seen[cluster.FSID]; v != nil && v.used != nil {
			used[cluster.FSID] = v.used
		}
	}
	c.Used.Set(used)
}
