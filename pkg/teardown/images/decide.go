package images

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// imageNode is an image and what will happen to it.
type imageNode struct {
	image    ceph.RBDImage
	decision teardown.Decision
	// member says that the image is provably ours, whatever the decision.
	member  bool
	journal *ceph.Journal
	// children are clones, by their places in the plan.
	children []int
	// strangers are clones that no pool that was read shows.
	strangers []ceph.ImageRef
	// level is 0 for images without clones, and else one more than that of the clones.
	level int
	// waitsFor names the clone for which the image is left to the trash and the mgr.
	waitsFor string
	use      ceph.ImageUse
}

// groupNode is a group of images and what will happen to it.
type groupNode struct {
	group    ceph.RBDGroup
	members  []int
	journal  *ceph.Journal
	decision teardown.Decision
}

// plan is every image that was read, with a decision where it has to do with the cluster.
type plan struct {
	nodes  []imageNode
	groups []groupNode
	// snapshots are the groups of snapshots that have to do with the cluster.
	snapshots []snapshotGroup
	byRef     map[ceph.ImageRef]int
	tags      map[string]int
	recorded  recorded
	full      map[int64]string
}

// decide decides on facts alone.
func decide(o teardown.Options, f facts) plan {
	p := plan{byRef: map[ceph.ImageRef]int{}, tags: map[string]int{}, recorded: f.recorded, full: f.full}
	whose := newOwnership(o, f)
	for n, i := range f.images {
		p.byRef[i.ImageRef] = n
		if tag := i.Metadata[ceph.TagCluster]; tag != "" {
			p.tags[tag]++
		}
		p.nodes = append(p.nodes, decideOne(o, i, whose.of(i), f.users[i.ImageRef]))
	}
	p.link()
	p.addGroups(f)
	for p.block(o) {
	}
	p.setLevels()
	p.decideGroups()
	p.addSnapshotGroups(o, f)
	return p
}

// decideOne decides on an image as if it had no clones.
func decideOne(o teardown.Options, i ceph.RBDImage, v verdict, use ceph.ImageUse) imageNode {
	item := itemOf(i)
	node := imageNode{image: i, journal: v.journal, member: v.Verdict == teardown.Remove, use: use}
	wanted := o.Selected(item) && looksAt(o, i.Pool)
	switch {
	case v.Verdict == "" || !wanted:
	case v.Verdict != teardown.Remove:
		node.decision = item.Decide(v.Verdict, v.reason)
	case len(use.Clients) > 0:
		node.decision = item.Decide(teardown.Refuse, "it is open at "+strings.Join(use.Clients, ", "))
	default:
		node.decision = o.Judge(item, v.reason)
	}
	return node
}

// looksAt says whether a pool is among those that the run is limited to.
func looksAt(o teardown.Options, pool string) bool {
	return len(o.Pools) == 0 || slices.Contains(o.Pools, pool)
}

// itemOf describes an image for people.
func itemOf(i ceph.RBDImage) teardown.Item {
	name, _ := ceph.ParseCSIName(i.Name)
	item := teardown.Item{
		Kind: teardown.Image, Place: teardown.Place{Pool: i.Pool, Namespace: i.Namespace}, Name: i.Name, ID: i.ID, Trash: i.Trash != nil && !i.Listed,
		Location: i.PoolID, Size: i.Size, Tag: i.Metadata[ceph.TagCluster], Retain: ceph.Retained(i.Metadata, name), UUID: name.UUID,
		PV: i.Metadata[ceph.TagPV], PVC: teardown.ObjectName(i.Metadata[ceph.TagPVCNamespace], i.Metadata[ceph.TagPVC]), Created: i.Created,
	}
	switch {
	case name.Temporary:
		item.Kind = teardown.TemporaryImage
	case i.Metadata[ceph.TagSnapshotContent] != "" && item.PV == "":
		item.Kind, item.PV = teardown.SnapshotImage, i.Metadata[ceph.TagSnapshotContent]
		item.PVC = teardown.ObjectName(i.Metadata[ceph.TagSnapshotNamespace], i.Metadata[ceph.TagSnapshot])
	}
	return item
}

// describe says whose an image is, as far as anybody knows.
func (n imageNode) describe() string {
	tag := n.image.Metadata[ceph.TagCluster]
	switch {
	case n.member:
		return n.image.Path()
	case tag == "":
		return n.image.Path() + " (of nobody knows whom)"
	}
	return fmt.Sprintf("%s (tag %q)", n.image.Path(), tag)
}

// setLevels orders removals. A loop cannot be; where a broken omap has one, nothing hangs.
func (p *plan) setLevels() {
	seen := make([]bool, len(p.nodes))
	var level func(n int) int
	level = func(n int) int {
		node := &p.nodes[n]
		if seen[n] {
			return node.level
		}
		seen[n] = true
		for _, c := range node.children {
			node.level = max(node.level, 1+level(c))
		}
		return node.level
	}
	for n := range p.nodes {
		level(n)
	}
}

// candidates are the images of which it matters who uses them.
func (p *plan) candidates() []ceph.RBDImage {
	var out []ceph.RBDImage
	for _, n := range p.nodes {
		if n.member && n.decision.Verdict != "" {
			out = append(out, n.image)
		}
	}
	return out
}

func (p *plan) findings(o teardown.Options) teardown.Findings {
	out := teardown.Findings{Tags: p.tags, Decisions: p.records(o)}
	for _, n := range p.nodes {
		if n.decision.Verdict != "" {
			out.Decisions = append(out.Decisions, n.decision)
		}
		if n.member && len(n.use.Clients) > 0 {
			out.Alive = append(out.Alive, fmt.Sprintf("image %s is open at %s", n.image.Path(), strings.Join(n.use.Clients, ", ")))
		}
	}
	for _, g := range p.groups {
		if g.decision.Verdict != "" {
			out.Decisions = append(out.Decisions, g.decision)
		}
	}
	for _, g := range p.snapshots {
		out.Decisions = append(out.Decisions, g.decision)
	}
	slices.Sort(out.Alive)
	return out
}
