package connection

import (
	"slices"
	"strings"
	"time"
)

// Report is what the connection to one Ceph cluster tells.
type Report struct {
	// FSID of the Ceph cluster; empty while none has ever answered.
	FSID string
	// Sources are where the Ceph cluster is declared, such as "Secret ceph-credentials", sorted.
	Sources []string
	// Reachable says whether the Ceph cluster answers, Since for how long that has been so.
	Reachable bool
	Since     time.Time
	// Releases are all that its daemons run, Version is the oldest of them.
	Releases []string
	Version  string
	// Epoch is the monmap's, EpochSince when it was first seen.
	Epoch      int64
	EpochSince time.Time
}

// reports tells of each connection, ordered by fsid, and of sources that led nowhere yet. What
// began earlier is taken from before.
func reports(views []view, before []Report, now time.Time) []Report {
	var out []Report
	for _, v := range views {
		fsid := v.cluster.FSID
		if !v.live && !v.exists() {
			continue
		}
		i := slices.IndexFunc(out, func(r Report) bool { return r.FSID == fsid && fsid != "" })
		if i >= 0 { // the first one is used
			out[i].Sources = append(out[i].Sources, v.where)
			slices.Sort(out[i].Sources)
			continue
		}
		next := Report{
			FSID: fsid, Sources: []string{v.where}, Reachable: v.reachable, Since: now,
			Releases: v.versions.Releases(), Version: v.versions.Oldest(), Epoch: v.cluster.MonMap.Epoch, EpochSince: v.answered,
		}
		for _, old := range before {
			same := old.FSID == fsid && (fsid != "" || slices.Equal(old.Sources, next.Sources))
			if same && old.Reachable == next.Reachable {
				next.Since = old.Since
			}
			if same && old.Epoch == next.Epoch {
				next.EpochSince = old.EpochSince
			}
		}
		out = append(out, next)
	}
	slices.SortStableFunc(out, func(a, b Report) int { return strings.Compare(a.FSID, b.FSID) })
	return out
}
