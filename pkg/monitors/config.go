package monitors

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// entry is one Ceph cluster in ceph-csi's config.json.
type entry struct {
	ClusterID string   `json:"clusterID"`
	Monitors  []string `json:"monitors"`
	CephFS    *cephFS  `json:"cephFS,omitempty"`
}

type cephFS struct {
	SubvolumeGroup string `json:"subvolumeGroup,omitempty"`
}

// known is what config.json is made of.
type known struct {
	// cluster in use, and those before it.
	cluster state.Cluster
	// place of the volumes in cluster; only its SubvolumeGroup counts, and the zero
	// Placement is that it is not known yet.
	place ceph.Placement
}

// decide returns config.json: the cluster in use as it is now, and every other one that
// existing has, because handles of volumes and snapshots carry its clusterID. Existing
// content that cannot be read is built anew. It returns nil when no mons are known: an
// empty list would cut off what runs.
func decide(k known, existing []byte) ([]byte, error) {
	if k.cluster.FSID == "" || len(k.cluster.Monitors) == 0 {
		return nil, nil
	}
	before := parse(existing)
	own := entry{ClusterID: k.cluster.FSID, Monitors: k.cluster.Monitors}
	group := k.place.SubvolumeGroup
	if k.place == (ceph.Placement{}) {
		group = before.group(own.ClusterID)
	}
	if group != "" {
		own.CephFS = &cephFS{SubvolumeGroup: group}
	}
	if err := before.put(own); err != nil {
		return nil, err
	}
	for _, former := range k.cluster.Others {
		if _, there := before[former.FSID]; there || len(former.Monitors) == 0 {
			continue
		}
		if err := before.put(entry{ClusterID: former.FSID, Monitors: former.Monitors}); err != nil {
			return nil, err
		}
	}
	return before.encode()
}

// entries are those of a config.json by clusterID, as they stand there.
type entries map[string]json.RawMessage

// parse keeps what ceph-csi could use: entries with a clusterID and mons, of those with the
// same clusterID the first one, as ceph-csi does.
func parse(content []byte) entries {
	out := entries{}
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return out
	}
	for _, raw := range list {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil || e.ClusterID == "" || len(e.Monitors) == 0 {
			continue
		}
		if _, there := out[e.ClusterID]; !there {
			out[e.ClusterID] = raw
		}
	}
	return out
}

// group is the subvolume group of an entry, empty if there is none.
func (e entries) group(clusterID string) string {
	var found entry
	if err := json.Unmarshal(e[clusterID], &found); err != nil || found.CephFS == nil {
		return ""
	}
	return found.CephFS.SubvolumeGroup
}

func (e entries) put(new entry) error {
	raw, err := json.Marshal(new)
	if err != nil {
		return fmt.Errorf("encoding the entry of Ceph cluster %s: %w", new.ClusterID, err)
	}
	e[new.ClusterID] = raw
	return nil
}

// encode sorts by clusterID, so that equal entries give equal bytes.
func (e entries) encode() ([]byte, error) {
	list := make([]json.RawMessage, 0, len(e))
	for _, id := range slices.Sorted(maps.Keys(e)) {
		list = append(list, e[id])
	}
	content, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", configKey, err)
	}
	return append(content, '\n'), nil
}
