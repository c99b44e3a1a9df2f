package connection

import (
	"slices"
	"strings"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/report"
)

// reports tells of each connection, ordered by fsid, and of sources that led nowhere yet. What
// began earlier is taken from before.
func reports(views []view, before []report.Connection, now time.Time) []report.Connection {
	var out []report.Connection
	for _, v := range views {
		fsid := v.cluster.FSID
		if !v.live && !v.exists() {
			continue
		}
		i := slices.IndexFunc(out, func(r report.Connection) bool { return r.FSID == fsid && fsid != "" })
		if i >= 0 { // the first one is used
			out[i].Sources = append(out[i].Sources, v.where)
			slices.Sort(out[i].Sources)
			continue
		}
		next := report.Connection{
			FSID: fsid, Sources: []string{v.where}, Reachable: v.reachable, Since: now,
			Version: v.version, Epoch: v.cluster.MonMap.Epoch, EpochSince: v.answered,
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
	slices.SortStableFunc(out, func(a, b report.Connection) int { return strings.Compare(a.FSID, b.FSID) })
	return out
}
