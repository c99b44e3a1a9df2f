package subvolumes

import (
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// decideGroup decides on a group by its snapshots, which nothing but its journal names. It goes with them.
// false means that it has none.
func (p *plan) decideGroup(item teardown.Item, j ceph.Journal) bool {
	going, stays, bare := 0, "", ""
	for _, it := range p.members(j) {
		_, snap, found := p.snapshotOf(it.uuid)
		switch {
		case p.goes[it] || !found && p.inventory.recorded.has(it.uuid, teardown.SubvolumeSnapshot):
			going++
		case found:
			stays = snap.name
			if p.nobodys(snap, p.stays[it].Item) {
				bare = snap.name
			}
		}
	}
	switch {
	case going > 0 && len(j.Contradictions) > 0:
		p.take(item.Decide(teardown.Keep, "its parts contradict each other: "+j.Contradictions[0]))
	case going > 0 && stays != "":
		p.take(item.Decide(teardown.Keep, fmt.Sprintf("its snapshot %s stays", stays)))
	case bare != "":
		p.take(item.Decide(teardown.Keep, fmt.Sprintf("its snapshot %s has no tag: nobody knows whose it is", bare)))
	case going > 0:
		p.take(p.options.Judge(item, fmt.Sprintf("all its snapshots go (%d)", going)))
	}
	return going > 0 || stays != ""
}

// members are the snapshots of a group in this filesystem.
func (p *plan) members(j ceph.Journal) []volumeKey {
	var out []volumeKey
	for _, snapshot := range j.Snapshots() {
		if snapshot.LocationID == p.inventory.filesystem.ID {
			out = append(out, volumeKey{true, snapshot.UUID})
		}
	}
	return out
}
