package images

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// snapshotGroup is a group of snapshots: a journal alone, as its rbd group goes once they are taken.
type snapshotGroup struct {
	pool    string
	journal ceph.Journal
	// members are the snapshots that are there, by their places in the plan.
	members  []int
	decision teardown.Decision
}

// addSnapshotGroups decides on them.
func (p *plan) addSnapshotGroups(o teardown.Options, f facts) {
	there, gone := map[ceph.VolumeHandle][]int{}, map[ceph.VolumeHandle]bool{}
	for n, node := range p.nodes {
		if name, ok := ceph.ParseCSIName(node.image.Name); ok && !name.Temporary {
			at := ceph.VolumeHandle{LocationID: node.image.PoolID, UUID: name.UUID}
			there[at] = append(there[at], n)
		}
	}
	for ref, image := range p.recorded.images {
		name, _ := ceph.ParseCSIName(image)
		gone[ceph.VolumeHandle{LocationID: ref.PoolID, UUID: name.UUID}] = true
	}
	for _, pool := range f.pools {
		for _, j := range f.journals[pool.Name] {
			if j.Kind != ceph.JournalGroup {
				continue
			}
			g, going := snapshotGroup{pool: pool.Name, journal: j}, 0
			for _, s := range j.Snapshots() {
				at := ceph.VolumeHandle{LocationID: s.LocationID, UUID: s.UUID}
				g.members = append(g.members, there[at]...)
				if len(there[at]) == 0 && gone[at] {
					going++
				}
			}
			if p.decideSnapshotGroup(o, pool, &g, going); g.decision.Verdict != "" {
				p.snapshots = append(p.snapshots, g)
			}
		}
	}
}

// decideSnapshotGroup decides on a group by its snapshots, which nothing but its journal names. It goes with
// them. going counts those that an earlier run removed.
func (p *plan) decideSnapshotGroup(o teardown.Options, pool ceph.Pool, g *snapshotGroup, going int) {
	stays := ""
	for _, n := range g.members {
		if p.nodes[n].decision.Verdict == teardown.Remove {
			going++
		} else {
			stays = p.nodes[n].image.Name
		}
	}
	item := teardown.Item{
		Kind: teardown.Journal, Place: teardown.Place{Pool: pool.Name}, Name: g.journal.Name().Object(),
		UUID: g.journal.UUID, Location: pool.ID, PV: g.journal.Request,
	}
	recorded := p.recorded.journals[ceph.VolumeHandle{LocationID: pool.ID, UUID: item.UUID}]
	switch {
	case !o.Selected(item) || !looksAt(o, pool.Name):
	case going > 0 && len(g.journal.Contradictions) > 0:
		g.decision = item.Decide(teardown.Keep, "its parts contradict each other: "+g.journal.Contradictions[0])
	case going > 0 && stays != "":
		g.decision = item.Decide(teardown.Keep, fmt.Sprintf("its snapshot %s stays", stays))
	case going > 0:
		g.decision = o.Judge(item, fmt.Sprintf("all its snapshots go (%d)", going))
	case recorded && stays == "":
		g.decision = o.Judge(item, "recorded by an earlier run, which removed what it names")
	}
}

// snapshotGroup finds what was decided on again.
func (p *plan) snapshotGroup(d teardown.Decision) *snapshotGroup {
	for n := range p.snapshots {
		if g := &p.snapshots[n]; g.decision.UUID == d.UUID && g.decision.Location == d.Location {
			return g
		}
	}
	return nil
}

// removeSnapshotGroup comes after the snapshots: without the journal, nothing would tell that they were a group.
func (p *part) removeSnapshotGroup(ctx context.Context, g snapshotGroup, failed map[ceph.ImageRef]error) error {
	for _, n := range g.members {
		if image := p.plan.nodes[n].image; failed[image.ImageRef] != nil {
			return fmt.Errorf("its snapshot %s could not be removed", image.Name)
		}
	}
	return p.patiently(ctx, func(ctx context.Context) error { return p.rbd.RemoveJournal(ctx, g.pool, g.journal) })
}
