package pools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/usage"
)

// legacyPools are the pools of volumes from before CSI. Those name mons, if anything, and mons
// may have moved since: where no Ceph cluster has one of them, it may be any.
func (l *look) legacyPools() []int64 {
	clusters, _ := l.Clusters.Get()
	var out []int64
	for _, legacy := range l.usage.Legacy {
		here := namesMon(legacy.Monitors, l.cluster)
		elsewhere := slices.ContainsFunc(clusters, func(c ceph.Cluster) bool { return namesMon(legacy.Monitors, c) })
		if elsewhere && !here {
			continue
		}
		place := ceph.Placement{Pool: legacy.Pool, DataPool: legacy.DataPool, Filesystem: legacy.Filesystem}
		out = append(out, l.Driver.Storage.Holding(l.has, place, nil)...)
	}
	return out
}

// namesMon says whether a list of mons has an address of the Ceph cluster; the port does not
// count, mons have two.
func namesMon(monitors string, cluster ceph.Cluster) bool {
	for _, monitor := range strings.Split(monitors, ",") {
		for _, mon := range cluster.MonMap.Mons {
			for _, address := range mon.Addrs {
				host := strings.TrimSuffix(strings.TrimPrefix(address.HostPort(), "["), fmt.Sprintf(":%d", address.Port))
				host = strings.TrimSuffix(host, "]")
				if monitor != "" && (monitor == host || strings.HasPrefix(monitor, host+":") || strings.HasPrefix(monitor, "["+host+"]")) {
					return true
				}
			}
		}
	}
	return false
}

// describeLegacy is the message of condition LegacyVolumes; empty when there are none.
func describeLegacy(used usage.Usage) string {
	var parts []string
	for _, legacy := range used.Legacy {
		parts = append(parts, fmt.Sprintf("%d of %s%s", legacy.Volumes, legacy.Plugin, legacyPlace(legacy.Legacy)))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s from before CSI: %s. They are left alone, and their pools are kept from removal; "+
		"current Kubernetes cannot mount them: copy their data into volumes of this driver",
		plural(used.LegacyVolumes(), "PersistentVolume", "PersistentVolumes"), strings.Join(parts, ", "))
}

func legacyPlace(legacy driver.Legacy) string {
	switch {
	case legacy.Pool != "":
		return fmt.Sprintf(" in pool %q", legacy.Pool)
	case legacy.Filesystem != "":
		return fmt.Sprintf(" in filesystem %q", legacy.Filesystem)
	}
	return ""
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
