package ceph

import (
	"encoding/json"
	"slices"
)

// ConfigEntry is one entry of ceph-csi's config.json: what a clusterID stands for. Several may
// lead to the same Ceph cluster, each to another RADOS namespace of its pools.
type ConfigEntry struct {
	ClusterID string
	// Monitors are "ip:port" each, in the order given.
	Monitors []string
	// ImageNamespace is the RADOS namespace of images, JournalNamespace that in which subvolumes
	// are recorded; empty for ceph-csi's own choice.
	ImageNamespace, JournalNamespace string
	// SubvolumeGroup is that of subvolumes; empty for ceph-csi's own choice.
	SubvolumeGroup string
}

// ParseConfig reads a config.json as ceph-csi does: of entries with the same clusterID the first
// one counts. Entries that it could not use are left out; text that is no config.json has none.
func ParseConfig(content []byte) []ConfigEntry {
	var list []json.RawMessage
	if err := json.Unmarshal(content, &list); err != nil {
		return nil
	}
	var out []ConfigEntry
	for _, raw := range list {
		var entry struct {
			ClusterID string   `json:"clusterID"`
			Monitors  []string `json:"monitors"`
			RBD       struct {
				RADOSNamespace string `json:"radosNamespace"`
			} `json:"rbd"`
			CephFS struct {
				RADOSNamespace string `json:"radosNamespace"`
				SubvolumeGroup string `json:"subvolumeGroup"`
			} `json:"cephFS"`
		}
		if err := json.Unmarshal(raw, &entry); err != nil || entry.ClusterID == "" || len(entry.Monitors) == 0 {
			continue
		}
		if slices.ContainsFunc(out, func(e ConfigEntry) bool { return e.ClusterID == entry.ClusterID }) {
			continue
		}
		out = append(out, ConfigEntry{
			ClusterID: entry.ClusterID, Monitors: entry.Monitors,
			ImageNamespace: entry.RBD.RADOSNamespace, JournalNamespace: entry.CephFS.RADOSNamespace,
			SubvolumeGroup: entry.CephFS.SubvolumeGroup,
		})
	}
	return out
}

// HasMon says whether one of the addresses, "ip:port" each, is a mon's of the map.
func (m MonMap) HasMon(hostPorts []string) bool {
	for _, mon := range m.Mons {
		for _, a := range mon.Addrs {
			if slices.Contains(hostPorts, a.HostPort()) {
				return true
			}
		}
	}
	return false
}
