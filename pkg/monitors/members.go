package monitors

import (
	"encoding/json"
	"maps"
	"slices"
)

// Members of an entry, beside its mons, that the operator may have set.
const (
	affinityMember = "readAffinity"
	groupMember    = "cephFS.subvolumeGroup"
	journalMember  = "cephFS.radosNamespace"
	kernelMember   = "cephFS.kernelMountOptions"
	fuseMember     = "cephFS.fuseMountOptions"
)

// withdrawn are members that the operator once set, the Secret to publish volumes with: since 3.16, ceph-csi's nodes have to
// read it to tell how full a block volume is (blockNodeGetVolumeStats, internal/rbd/nodeserver.go), which they may not.
var withdrawn = []string{"rbd.controllerPublishSecretRef", "cephFS.controllerPublishSecretRef"}

// members are those that the operator has set, by clusterID: it may take them away again, and no
// others.
type members map[string][]string

// membersAnnotation of Secret driver.ConfigSecret remembers them.
const membersAnnotation = "storage.openshift.io/members-set"

// readMembers returns nil where nobody has recorded any. Of what cannot be read, nothing is ours.
func readMembers(annotations map[string]string) members {
	text, recorded := annotations[membersAnnotation]
	if !recorded {
		return nil
	}
	out := members{}
	if err := json.Unmarshal([]byte(text), &out); err != nil || out == nil {
		return members{}
	}
	return out
}

func (m members) String() string {
	text, _ := json.Marshal(m) // of strings alone: it does not fail
	return string(text)
}

func (m members) has(clusterID, path string) bool { return slices.Contains(m[clusterID], path) }

func (m members) add(clusterID, path string) {
	if !m.has(clusterID, path) {
		m[clusterID] = append(slices.Clone(m[clusterID]), path)
		slices.Sort(m[clusterID])
	}
}

func (m members) drop(clusterID, path string) {
	m[clusterID] = slices.DeleteFunc(slices.Clone(m[clusterID]), func(p string) bool { return p == path })
	if len(m[clusterID]) == 0 {
		delete(m, clusterID)
	}
}

// of leaves out what is of clusters that the config.json does not have.
func (m members) of(c config) members {
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(clusterID string, _ []string) bool { return c.find(clusterID) < 0 })
	return out
}

// unrecorded are the members that operators wrote which did not record them: they undid whatever
// others wrote into the same places.
func unrecorded(c config, inUse string) members {
	out := members{}
	for _, e := range c.entries {
		if e.ReadAffinity != nil {
			out.add(e.ClusterID, affinityMember)
		}
		if e.ClusterID == inUse && inUse != "" {
			for _, path := range []string{groupMember, kernelMember, fuseMember} {
				out.add(inUse, path)
			}
		}
	}
	return out
}
