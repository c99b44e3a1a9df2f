package monitors

import (
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// known is what config.json is made of.
type known struct {
	// cluster in use, and those beside it; only what is recorded of the latter.
	cluster state.Cluster
	// others are connected, and not in use.
	others []state.Cluster
	// place of the volumes in cluster; only its SubvolumeGroup and JournalNamespace count, and the zero
	// Placement is that it is not known yet.
	place ceph.Placement
	// grouped says that volumes have those: without them, new entries would have the driver make volumes
	// where it never looks for them again.
	grouped bool
	// unset: nobody knows the options below; those that stand there stay.
	unset bool
	// options of mounts in cluster, and of reads in all; empty for ceph-csi's own.
	kernelMountOptions, fuseMountOptions string
	readAffinity                         []string
	// releases of Ceph that daemons run, by fsid, as far as they are known; with some of them reads are unsafe.
	releases    map[string][]string
	unsafeReads []string
	// maps are the monmaps of connected clusters.
	maps []ceph.MonMap
	// picks is Driver.PicksMons.
	picks bool
}

// decide returns config.json: the clusters as they are now, and every other one that existing
// has, because handles of volumes and snapshots carry its clusterID. Of an entry, only the mons are
// the operator's, and what it has set itself, which is recorded in ours and returned anew: other
// members and entries keep every byte. In the entry of the cluster in use, settings count for more
// than what a person wrote there.
//
// Content that cannot be read is ceph.ErrUnreadableConfig: it may hold entries that nobody else
// knows. The content is nil when no mons are known: an empty list would cut off what runs.
func decide(k known, existing []byte, ours members) ([]byte, members, error) {
	inUse := k.cluster.FSID != "" && len(k.cluster.Monitors) > 0
	c, err := readConfig(existing)
	if k.grouped && k.place == (ceph.Placement{}) && c.find(k.cluster.FSID) < 0 {
		return nil, ours, err
	}
	if err != nil || !inUse && len(k.others) == 0 {
		return nil, ours, err
	}
	if ours == nil {
		ours = unrecorded(c, k.cluster.FSID)
	}
	d, former := decision{config: c, ours: ours.of(c)}, config{entries: slices.Clone(c.entries)}
	if inUse {
		if !k.strands(c) {
			d.set(k.cluster.FSID, "monitors", k.cluster.Monitors)
		}
		for _, w := range k.options() {
			d.wish(k.cluster.FSID, w)
		}
	}
	for _, other := range k.cluster.Others {
		if d.find(other.FSID) < 0 && len(other.Monitors) > 0 {
			d.add(other.FSID, other.Monitors, k)
		}
	}
	for _, other := range k.others {
		if d.find(other.FSID) < 0 {
			d.add(other.FSID, other.Monitors, k)
			continue
		}
		d.set(other.FSID, "monitors", other.Monitors)
	}
	d.follow(k.maps, former, k.picks)
	for _, e := range d.entries {
		w := k.affinity(e.ClusterID)
		w.sure = w.sure && (e.ClusterID == k.cluster.FSID || d.ours.has(e.ClusterID, w.path) || !d.has(e.ClusterID, w.path))
		d.wish(e.ClusterID, w)
		for _, path := range withdrawn {
			d.wish(e.ClusterID, wish{path: path, sure: true})
		}
	}
	return d.text(), d.ours, d.err
}

// wish is what a member of an entry is to be; nil for ceph-csi's own choice. Unless sure, it stays.
type wish struct {
	path  string
	value any
	sure  bool
}

// options are those of the cluster in use.
func (k known) options() []wish {
	return []wish{
		{groupMember, orNil(k.place.SubvolumeGroup), k.place != ceph.Placement{}},
		{journalMember, orNil(k.place.JournalNamespace), k.place != ceph.Placement{}},
		{kernelMember, orNil(k.kernelMountOptions), !k.unset},
		{fuseMember, orNil(k.fuseMountOptions), !k.unset},
	}
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// affinity is not sure where a Ceph cluster has yet to tell its releases. One that loses data is enough: which of the daemons
// are OSDs makes no difference in an upgrade.
func (k known) affinity(fsid string) wish {
	unsafe := func(release string) bool {
		return slices.ContainsFunc(k.unsafeReads, func(of string) bool { return ceph.IsRelease(release, of) })
	}
	releases := k.releases[fsid]
	switch {
	case k.unset:
		return wish{path: affinityMember}
	case len(k.readAffinity) == 0 || slices.ContainsFunc(releases, unsafe):
		return wish{path: affinityMember, sure: true}
	case len(k.unsafeReads) > 0 && (len(releases) == 0 || slices.Contains(releases, ceph.UnknownRelease)):
		return wish{path: affinityMember}
	}
	return wish{affinityMember, readAffinity{Enabled: true, CrushLocationLabels: k.readAffinity}, true}
}

// decision is a config.json that is being changed; err is the first thing that went wrong.
type decision struct {
	config
	ours members
	err  error
}

func (d *decision) set(clusterID, path string, value any) {
	if d.err == nil {
		d.err = d.config.set(clusterID, path, value)
	}
}

// add makes an entry for a Ceph cluster that is not in use. It has the journal of the one that is: ceph-csi
// mixes up those of several clusterIDs.
func (d *decision) add(clusterID string, mons []string, k known) {
	d.set(clusterID, "monitors", mons)
	if k.place.JournalNamespace != "" {
		d.set(clusterID, journalMember, k.place.JournalNamespace)
	}
}

// wish takes away only what the operator has set.
func (d *decision) wish(clusterID string, w wish) {
	switch {
	case !w.sure:
	case w.value != nil:
		d.set(clusterID, w.path, w.value)
		d.ours.add(clusterID, w.path)
	case d.ours.has(clusterID, w.path):
		d.set(clusterID, w.path, nil)
		d.ours.drop(clusterID, w.path)
	}
}

// follow puts the mons of connected clusters into entries whose clusterID is nobody's fsid, and that have one of the mons, or
// had one in common with the cluster's own entry, where all have moved at once. With mons of several clusters, nobody knows
// which of them is meant.
func (d *decision) follow(maps []ceph.MonMap, former config, picks bool) {
	for _, e := range d.entries {
		of := slices.DeleteFunc(slices.Clone(maps), func(m ceph.MonMap) bool { return !m.HasMon(e.Monitors) })
		if len(of) == 0 {
			of = slices.DeleteFunc(slices.Clone(maps), func(m ceph.MonMap) bool {
				return !mapOf(former.monitors(m.FSID)).HasMon(e.Monitors) || slices.ContainsFunc(d.entries, func(other entry) bool {
					return ceph.IsFSID(other.ClusterID) && other.ClusterID != m.FSID && mapOf(other.Monitors).HasMon(e.Monitors)
				})
			})
		}
		if len(of) != 1 || ceph.IsFSID(e.ClusterID) {
			continue
		}
		if mons := alike(of[0], e.Monitors, picks); !sameSet(mons, e.Monitors) {
			d.set(e.ClusterID, "monitors", mons)
		}
	}
}

// strands says that mons which are known from the record alone would leave entries of other clusterIDs behind: once the Ceph
// cluster is connected, its own entry as it stands is all that tells which of them follow.
func (k known) strands(c config) bool {
	if slices.ContainsFunc(k.maps, func(m ceph.MonMap) bool { return m.FSID == k.cluster.FSID }) {
		return false
	}
	before, after := mapOf(c.monitors(k.cluster.FSID)), mapOf(k.cluster.Monitors)
	return slices.ContainsFunc(c.entries, func(e entry) bool {
		return e.ClusterID != k.cluster.FSID && !ceph.IsFSID(e.ClusterID) && before.HasMon(e.Monitors) && !after.HasMon(e.Monitors)
	})
}

// mapOf is what an entry of config.json tells of a monmap.
func mapOf(monitors []string) ceph.MonMap {
	var all ceph.Mon
	for _, entry := range monitors {
		all.Addrs = append(all.Addrs, ceph.ListedAddresses(entry)...)
	}
	return ceph.MonMap{Mons: []ceph.Mon{all}}
}
