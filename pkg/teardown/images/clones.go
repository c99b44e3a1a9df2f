package images

import (
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// link joins parents and clones, as both of them tell.
func (p *plan) link() {
	add := func(parent, child int) {
		if node := &p.nodes[parent]; !slices.Contains(node.children, child) {
			node.children = append(node.children, child)
		}
	}
	for n := range p.nodes {
		if of := p.nodes[n].image.Parent; of != nil {
			if parent, found := p.byRef[of.ImageRef]; found {
				add(parent, n)
			}
		}
		for _, s := range p.nodes[n].image.Snapshots {
			for _, ref := range s.Children {
				if child, found := p.byRef[ref]; found {
					add(n, child)
				} else {
					p.nodes[n].strangers = append(p.nodes[n].strangers, ref)
				}
			}
		}
	}
}

// block turns the removal of what something depends on that stays into a refusal, and says
// whether it found any.
func (p *plan) block(o teardown.Options) bool {
	found := false
	for n := range p.nodes {
		node := &p.nodes[n]
		if node.decision.Verdict != teardown.Remove || node.waitsFor != "" {
			continue
		}
		if clone, blocked := p.blocker(n); blocked {
			found = true
			if o.KeepForChildren && !clone.pinned && node.image.Group == nil {
				node.waitsFor = clone.name
				node.decision.Reason += "; goes to the trash and waits there for its clone " + clone.name
				continue
			}
			node.decision.Verdict = clone.verdict
			node.decision.Reason = fmt.Sprintf("its clone %s stays; --keep-for-children leaves it to the trash until then", clone.name)
			if clone.pinned {
				node.decision.Reason = fmt.Sprintf("its clone %s stays, and needs it as it is (clone format 1)", clone.name)
			}
			continue
		}
		if other, blocked := p.companion(n); blocked {
			found = true
			node.decision.Verdict, node.decision.Reason = teardown.Refuse, other
		}
	}
	return found
}

// stayingClone is why an image cannot go.
type stayingClone struct {
	name string
	// pinned says that the clone does not survive its parent's move to the trash.
	pinned bool
	// verdict on the parent: what was meant to stay keeps what it needs.
	verdict teardown.Verdict
}

// blocker finds a clone that stays.
func (p *plan) blocker(n int) (stayingClone, bool) {
	node := p.nodes[n]
	for _, ref := range node.strangers {
		name := fmt.Sprintf("with ID %s in pool %d, which no pool that was read shows,", ref.ID, ref.PoolID)
		return stayingClone{name, true, teardown.Refuse}, true
	}
	for _, c := range node.children {
		child := p.nodes[c]
		if child.decision.Verdict == teardown.Remove && child.waitsFor == "" {
			continue
		}
		out := stayingClone{name: child.describe(), verdict: teardown.Refuse}
		if child.member && child.decision.Verdict == teardown.Keep {
			out.verdict = teardown.Keep
		}
		for _, s := range node.image.Snapshots {
			if child.image.Parent != nil && s.ID == child.image.Parent.SnapID && s.Protected {
				out.pinned = true
			}
		}
		return out, true
	}
	return stayingClone{}, false
}
