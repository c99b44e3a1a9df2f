package state

import "slices"

// Cluster is the Ceph cluster that this OpenShift cluster uses. Its fields are never
// omitted from the JSON, so that writing replaces every one of them.
type Cluster struct {
	FSID  string `json:"fsid"`
	Epoch int64  `json:"epoch"`
	// Monitors are all mons in the form of config.json ("ip:port"), sorted.
	Monitors []string `json:"monitors"`
	// MonHost are the addresses by which a client of ours connects ("v2:ip:port").
	MonHost []string `json:"monHost"`
	// Former are the Ceph clusters in use before this one, which volumes may still be in.
	Former []Former `json:"former"`
}

// Former is a Ceph cluster that was moved away from.
type Former struct {
	FSID     string   `json:"fsid"`
	Monitors []string `json:"monitors"`
}

// Succeed returns next with the clusters that came before it: those of c, and c itself if
// next is another Ceph cluster.
func (c Cluster) Succeed(next Cluster) Cluster {
	former := c.Former
	if c.FSID != "" && c.FSID != next.FSID {
		former = append(slices.Clone(former), Former{FSID: c.FSID, Monitors: c.Monitors})
	}
	for _, f := range former {
		seen := func(other Former) bool { return other.FSID == f.FSID }
		if f.FSID != next.FSID && !slices.ContainsFunc(next.Former, seen) {
			next.Former = append(next.Former, f)
		}
	}
	return next
}

// Placement is where volumes of the default StorageClass go, once that was chosen.
type Placement struct {
	// FSID of the Ceph cluster for which it was chosen.
	FSID           string `json:"fsid"`
	Pool           string `json:"pool"`
	DataPool       string `json:"dataPool"`
	Filesystem     string `json:"filesystem"`
	SubvolumeGroup string `json:"subvolumeGroup"`
}

// Settings are the settings that were valid last.
type Settings struct {
	// Ceph is spec.driverConfig.ceph as somebody wrote it; nil where it was not set.
	Ceph map[string]any `json:"ceph"`
}
