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
	ClusterID    string        `json:"clusterID"`
	Monitors     []string      `json:"monitors"`
	CephFS       *cephFS       `json:"cephFS,omitempty"`
	ReadAffinity *readAffinity `json:"readAffinity,omitempty"`
}

type cephFS struct {
	SubvolumeGroup     string `json:"subvolumeGroup,omitempty"`
	KernelMountOptions string `json:"kernelMountOptions,omitempty"`
	FuseMountOptions   string `json:"fuseMountOptions,omitempty"`
}

type readAffinity struct {
	Enabled             bool     `json:"enabled"`
	CrushLocationLabels []string `json:"crushLocationLabels"`
}

// known is what config.json is made of.
type known struct {
	// cluster in use, and those beside it; only what is recorded of the latter.
	cluster state.Cluster
	// others are connected, and not in use.
	others []state.Cluster
	// place of the volumes in cluster; only its SubvolumeGroup counts, and the zero
	// Placement is that it is not known yet.
	place ceph.Placement
	// unset: nobody knows the options below; those that stand there stay.
	unset bool
	// options of mounts in cluster, and of reads in all; empty for ceph-csi's own.
	kernelMountOptions, fuseMountOptions string
	readAffinity                         []string
	// versions of Ceph, by fsid, as far as they are known; with some of them reads are unsafe.
	versions    map[string]string
	unsafeReads []string
	// maps are the monmaps of connected clusters.
	maps []ceph.MonMap
}

// decide returns config.json: the clusters as they are now, and every other one that existing
// has, because handles of volumes and snapshots carry its clusterID. The entry of the one in
// use is ours alone; in others only the mons are, also in those that an administrator added for a
// RADOS namespace. Existing content that cannot be read is
// built anew. It returns nil when no mons are known: an empty list would cut off what runs.
func decide(k known, existing []byte) ([]byte, error) {
	inUse := k.cluster.FSID != "" && len(k.cluster.Monitors) > 0
	if !inUse && len(k.others) == 0 {
		return nil, nil
	}
	all := parse(existing)
	if inUse {
		own := entry{ClusterID: k.cluster.FSID, Monitors: k.cluster.Monitors, CephFS: k.cephFS(all),
			ReadAffinity: all.entry(k.cluster.FSID).ReadAffinity}
		if err := all.put(own); err != nil {
			return nil, err
		}
	}
	for _, other := range k.cluster.Others {
		if _, there := all[other.FSID]; there || len(other.Monitors) == 0 {
			continue
		}
		if err := all.put(entry{ClusterID: other.FSID, Monitors: other.Monitors}); err != nil {
			return nil, err
		}
	}
	for _, other := range k.others {
		if err := all.set(other.FSID, "clusterID", other.FSID, "monitors", other.Monitors); err != nil {
			return nil, err
		}
	}
	if err := all.follow(k.maps); err != nil {
		return nil, err
	}
	for id := range all {
		labels, sure := k.affinity(id)
		if !sure {
			continue
		}
		if err := all.setAffinity(id, labels); err != nil {
			return nil, err
		}
	}
	return all.encode()
}

// affinity returns the labels for a Ceph cluster; not sure where it has yet to tell its version.
func (k known) affinity(fsid string) (labels []string, sure bool) {
	version := k.versions[fsid]
	switch {
	case k.unset:
		return nil, false
	case len(k.readAffinity) == 0 || slices.Contains(k.unsafeReads, version):
		return nil, true
	case len(k.unsafeReads) > 0 && version == "":
		return nil, false
	}
	return k.readAffinity, true
}

func (k known) cephFS(before entries) *cephFS {
	options := cephFS{SubvolumeGroup: k.place.SubvolumeGroup, KernelMountOptions: k.kernelMountOptions, FuseMountOptions: k.fuseMountOptions}
	if found := before.entry(k.cluster.FSID).CephFS; found != nil {
		if k.place == (ceph.Placement{}) {
			options.SubvolumeGroup = found.SubvolumeGroup
		}
		if k.unset {
			options.KernelMountOptions, options.FuseMountOptions = found.KernelMountOptions, found.FuseMountOptions
		}
	}
	if options == (cephFS{}) {
		return nil
	}
	return &options
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

// entry as ceph-csi reads it; the zero one if there is none.
func (e entries) entry(clusterID string) entry {
	var found entry
	if err := json.Unmarshal(e[clusterID], &found); err != nil {
		return entry{}
	}
	return found
}

func (e entries) put(new entry) error {
	raw, err := json.Marshal(new)
	if err != nil {
		return fmt.Errorf("encoding the entry of Ceph cluster %s: %w", new.ClusterID, err)
	}
	e[new.ClusterID] = raw
	return nil
}

// set gives fields of an entry, in pairs of name and value, and leaves its other ones alone. A
// value of nil removes a field. Nothing changes where nothing differs.
func (e entries) set(clusterID string, pairs ...any) error {
	fields := map[string]json.RawMessage{}
	if raw, there := e[clusterID]; there {
		if err := json.Unmarshal(raw, &fields); err != nil {
			return fmt.Errorf("reading the entry of Ceph cluster %s: %w", clusterID, err)
		}
	}
	before := maps.Clone(fields)
	for pair := range slices.Chunk(pairs, 2) {
		name := pair[0].(string)
		if pair[1] == nil {
			delete(fields, name)
			continue
		}
		value, err := json.Marshal(pair[1])
		if err != nil {
			return fmt.Errorf("encoding %s of Ceph cluster %s: %w", name, clusterID, err)
		}
		fields[name] = value
	}
	if maps.EqualFunc(before, fields, sameJSON) {
		return nil
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("encoding the entry of Ceph cluster %s: %w", clusterID, err)
	}
	e[clusterID] = raw
	return nil
}

// follow puts the mons of connected clusters into entries that have one of them, and whose clusterID
// is nobody's fsid.
func (e entries) follow(maps []ceph.MonMap) error {
	for id := range e {
		mons := e.entry(id).Monitors
		i := slices.IndexFunc(maps, func(m ceph.MonMap) bool { return m.HasMon(mons) })
		if i < 0 || ceph.IsFSID(id) || sameSet(alike(maps[i], mons), mons) {
			continue
		}
		if err := e.set(id, "monitors", alike(maps[i], mons)); err != nil {
			return err
		}
	}
	return nil
}

func (e entries) setAffinity(clusterID string, labels []string) error {
	if len(labels) == 0 {
		return e.set(clusterID, "readAffinity", nil)
	}
	return e.set(clusterID, "readAffinity", readAffinity{Enabled: true, CrushLocationLabels: labels})
}

// encode sorts by clusterID, so that equal entries give equal bytes.
func (e entries) encode() ([]byte, error) {
	list := make([]json.RawMessage, 0, len(e))
	for _, id := range slices.Sorted(maps.Keys(e)) {
		list = append(list, e[id])
	}
	content, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", ConfigKey, err)
	}
	return append(content, '\n'), nil
}
