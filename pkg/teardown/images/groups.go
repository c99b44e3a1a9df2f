package images

import (
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// addGroups joins groups with their images, which lie in the group's RADOS namespace.
func (p *plan) addGroups(f facts) {
	for _, g := range f.groups {
		node := groupNode{group: g}
		for n, i := range f.images {
			if i.Group != nil && *i.Group == g.GroupRef && i.Namespace == g.Namespace {
				node.members = append(node.members, n)
			}
		}
		name, ok := ceph.ParseCSIName(g.Name)
		for _, j := range f.journals[g.Pool] {
			if ok && j.Kind == ceph.JournalGroup && j.UUID == name.UUID && (j.Image == g.Name || j.Image == "") && len(j.Contradictions) == 0 {
				node.journal = &j
			}
		}
		p.groups = append(p.groups, node)
	}
}

// companion finds an image that stays in the same group: the group's snapshots are of all of them.
func (p *plan) companion(n int) (string, bool) {
	for _, g := range p.groups {
		mine := false
		other := -1
		for _, m := range g.members {
			mine = mine || m == n
			if p.nodes[m].decision.Verdict != teardown.Remove {
				other = m
			}
		}
		if mine && other >= 0 {
			return fmt.Sprintf("it is in image group %s with %s, which stays: take it out of the group first", g.group.Name, p.nodes[other].describe()), true
		}
	}
	return "", false
}

// decideGroups: a group goes with its images, and nothing else tells whose it is.
func (p *plan) decideGroups() {
	for n := range p.groups {
		g := &p.groups[n]
		verdict, members := teardown.Verdict(""), 0
		for _, m := range g.members {
			// An image without any verdict is somebody else's, or outside of what the run is limited to.
			if p.nodes[m].member && p.nodes[m].decision.Verdict != "" {
				members++
			}
			if p.nodes[m].decision.Verdict == teardown.Remove {
				verdict = teardown.Remove
			}
		}
		item := teardown.Item{Kind: teardown.ImageGroup, Place: teardown.Place{Pool: g.group.Pool, Namespace: g.group.Namespace}, Name: g.group.Name, ID: g.group.ID, Location: g.group.PoolID}
		begun := p.recorded.groups[g.group.GroupRef] == g.group.Name && len(g.members) == 0
		switch {
		case begun:
			g.decision = item.Decide(teardown.Remove, "an earlier run removed its images")
		case verdict == teardown.Remove:
			g.decision = item.Decide(teardown.Remove, fmt.Sprintf("all its images go (%d)", len(g.members)))
		case members > 0:
			g.decision = item.Decide(teardown.Keep, "not all of its images go")
		}
	}
}
