package tags

import (
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// place is what a clusterID stands for. The fsid is empty where that is no connected Ceph cluster.
type place struct{ fsid, namespace, group string }

// places finds what clusterIDs stand for, each once.
type places struct {
	clusters []ceph.Cluster
	config   []ceph.ConfigEntry
	storage  driver.Storage
	known    map[string]place
}

func (p places) of(clusterID string) place {
	found, known := p.known[clusterID]
	if !known {
		found = p.find(clusterID)
		p.known[clusterID] = found
	}
	return found
}

// find takes the fsid, or the Ceph cluster one of whose mons config.json has for the clusterID.
// Another fsid never leads anywhere: mons may be where those of a lost cluster were. Of a clusterID that config.json
// lacks, nobody knows in which group, journal or namespace its volumes are.
func (p places) find(clusterID string) place {
	i := slices.IndexFunc(p.config, func(e ceph.ConfigEntry) bool { return e.ClusterID == clusterID })
	if i < 0 {
		return place{}
	}
	entry := p.config[i]
	out := place{namespace: p.storage.Namespace(entry), group: entry.SubvolumeGroup}
	for _, cluster := range p.clusters {
		if clusterID == cluster.FSID || !ceph.IsFSID(clusterID) && cluster.MonMap.HasMon(entry.Monitors) {
			out.fsid = cluster.FSID
		}
	}
	return out
}
