package ceph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// ConfigEntry is one entry of ceph-csi's config.json: what a clusterID stands for. Several may
// lead to the same Ceph cluster, each to another RADOS namespace of its pools.
type ConfigEntry struct {
	ClusterID string
	// Monitors are as given, of any form that Ceph's option mon_host has.
	Monitors []string
	// ImageNamespace is the RADOS namespace of images, JournalNamespace that in which subvolumes
	// are recorded; empty for ceph-csi's own choice.
	ImageNamespace, JournalNamespace string
	// SubvolumeGroup is that of subvolumes; empty for ceph-csi's own choice.
	SubvolumeGroup string
}

// ErrUnreadableConfig says that text is no config.json: ceph-csi refuses all of it, and nobody
// knows what was meant to be there.
var ErrUnreadableConfig = errors.New("not a list of Ceph clusters that ceph-csi could read")

// ParseConfig reads a config.json as ceph-csi does: of entries with the same clusterID the first
// one counts. Entries that it could not use are left out. No text at all has no entries.
func ParseConfig(content []byte) ([]ConfigEntry, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, nil
	}
	if !utf8.Valid(content) {
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrUnreadableConfig)
	}
	var list []struct {
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
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadableConfig, err)
	}
	var out []ConfigEntry
	for _, entry := range list {
		known := slices.ContainsFunc(out, func(e ConfigEntry) bool { return e.ClusterID == entry.ClusterID })
		if known || entry.ClusterID == "" || len(entry.Monitors) == 0 {
			continue
		}
		out = append(out, ConfigEntry{
			ClusterID: entry.ClusterID, Monitors: entry.Monitors,
			ImageNamespace: entry.RBD.RADOSNamespace, JournalNamespace: entry.CephFS.RADOSNamespace,
			SubvolumeGroup: entry.CephFS.SubvolumeGroup,
		})
	}
	return out, nil
}

// HasMon says whether one of the entries of a list of mons, as ListedAddresses takes them, is a mon's of the map.
func (m MonMap) HasMon(listed []string) bool {
	return slices.ContainsFunc(listed, func(entry string) bool {
		return slices.ContainsFunc(ListedAddresses(entry), m.Has)
	})
}

// Has says whether a mon listens at an IP and port, with whatever protocol.
func (m MonMap) Has(at Address) bool {
	_, found := m.at(at)
	return found
}

// ProtocolAt is that of the mon that listens at an IP and port, and where none does, the one that the address has.
func (m MonMap) ProtocolAt(at Address) Protocol {
	if known, found := m.at(at); found {
		return known.Protocol
	}
	return at.Protocol
}

func (m MonMap) at(wanted Address) (Address, bool) {
	for _, mon := range m.Mons {
		for _, a := range mon.Addrs {
			if a.HostPort() == wanted.HostPort() {
				return a, true
			}
		}
	}
	return Address{}, false
}
