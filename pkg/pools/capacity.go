package pools

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Capacities are what is in the pools in use, by fsid; those with the most volumes first.
type Capacities map[string][]Capacity

// Capacity is what is in a pool in use.
type Capacity struct {
	Pool string
	// Volumes is how many PersistentVolumes lie there, with their data or with what leads to it.
	Volumes int
	// Measured is false while Ceph does not say how full the pool is.
	Measured bool
	// Stored is what is written, Available what can still be, in bytes and without copies.
	Stored, Available uint64
}

// measure finds what is in the pools in use. Nothing rests on it: where Ceph does not say how full they
// are, it is asked again with the next look.
func (l *look) measure(ctx context.Context, wanted map[int64]wishes) {
	all, err := l.client.Capacities(ctx)
	if err != nil {
		klog.V(2).InfoS("How full the pools are is not known", "fsid", l.cluster.FSID, "err", err)
	}
	volumes := map[int64]int{}
	for _, place := range l.usage.In(l.cluster) {
		for _, id := range l.Driver.Storage.Holding(l.has, place.Placement, place.IDs) {
			volumes[id] += place.Volumes
		}
	}
	for _, p := range l.has.Pools {
		if wanted[p.ID] == gone {
			continue
		}
		c := Capacity{Pool: p.Name, Volumes: volumes[p.ID]}
		if i := slices.IndexFunc(all, func(c ceph.Capacity) bool { return c.PoolID == p.ID }); i >= 0 {
			c.Measured, c.Stored, c.Available = true, all[i].Stored, all[i].Available
		}
		l.found.capacities = append(l.found.capacities, c)
	}
	slices.SortFunc(l.found.capacities, func(a, b Capacity) int {
		return cmp.Or(cmp.Compare(b.Volumes, a.Volumes), cmp.Compare(a.Pool, b.Pool))
	})
}
