package monitors

import (
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// gather prefers what Ceph says now to what was recorded. A record that cannot be read is
// as good as none here: its writer reports it. Neither do settings that never were valid keep
// mons from being listed.
func (c *Controller) gather() known {
	settings, invalid := c.Settings()
	cluster, _, err := c.clusters.Load()
	if err != nil {
		cluster = state.Cluster{}
	}
	if live, ok := c.Cluster.Get(); ok {
		cluster = cluster.Succeed(recordOf(live))
	}
	k := known{
		cluster: c.inForm(cluster, settings), grouped: c.Driver.NeedsFilesystem, unset: invalid != nil, readAffinity: settings.ReadAffinity,
		kernelMountOptions: settings.KernelMountOptions, fuseMountOptions: settings.FuseMountOptions,
		releases: map[string][]string{}, unsafeReads: c.Driver.UnsafeReads,
	}
	connected, _ := c.Clusters.Get()
	for _, other := range connected {
		k.releases[other.FSID] = other.Releases
		k.maps = append(k.maps, other.MonMap)
		if other.FSID != cluster.FSID {
			further := recordOf(other)
			if c.Driver.PicksMons {
				further = c.inForm(further, settings)
			}
			k.others = append(k.others, further)
		}
	}
	if live, ok := c.Placement.Get(); ok && live.FSID == cluster.FSID {
		k.place = live
		return k
	}
	recorded, _, err := c.placements.Load()
	if err == nil && recorded.FSID == cluster.FSID {
		k.place = ceph.Placement(recorded)
	}
	return k
}

func recordOf(cluster ceph.Cluster) state.Cluster {
	record := state.Cluster{FSID: cluster.FSID, Epoch: cluster.MonMap.Epoch, Monitors: cluster.MonMap.Monitors()}
	for _, a := range cluster.MonMap.MonHost() {
		record.MonHost = append(record.MonHost, a.String())
	}
	return record
}

// inForm lists the mons by the addresses that the settings need: kernel clients that speak msgr2 know the mons by their v2
// addresses. Volumes that were made before speak the other protocol still, where the option is not that of all volumes of
// the Ceph cluster, as it is for CephFS in the entry of config.json: so others are listed in both forms, or as they are.
func (c *Controller) inForm(cluster state.Cluster, settings driver.Settings) state.Cluster {
	if !settings.Msgr2() || len(cluster.MonHost) == 0 {
		return cluster
	}
	var listed []string
	if c.Driver.PicksMons {
		listed = append(listed, cluster.Monitors...)
	}
	for _, address := range cluster.MonHost {
		_, hostPort, _ := strings.Cut(address, ":")
		listed = append(listed, hostPort)
	}
	slices.Sort(listed)
	cluster.Monitors = slices.Compact(listed)
	return cluster
}

// Sync is how long the newest monmap took to the Secret that pods mount, in seconds from
// when its quorum was seen.
type Sync struct{ Seconds float64 }

// Written are the epochs, by fsid, of the newest monmaps whose mons the Secret lists that pods
// mount.
type Written map[string]int64

// epochs are those of the monmaps that config.json is made of.
func (k known) epochs() Written {
	out := Written{}
	for _, m := range k.maps {
		out[m.FSID] = m.Epoch
	}
	if _, connected := out[k.cluster.FSID]; connected {
		out[k.cluster.FSID] = k.cluster.Epoch
	}
	return out
}

// measure tells how old the newest monmap is that was just written for the first time.
func (c *Controller) measure(before []byte) {
	old, err := readConfig(before)
	if err != nil {
		return
	}
	clusters, _ := c.Clusters.Get()
	var newest time.Time
	for _, cluster := range clusters {
		mons := old.monitors(cluster.FSID)
		if !sameSet(mons, alike(cluster.MonMap, mons)) && cluster.EpochSince.After(newest) {
			newest = cluster.EpochSince
		}
	}
	if !newest.IsZero() {
		c.Took.Set(Sync{Seconds: c.Clock.Since(newest).Seconds()})
	}
}
