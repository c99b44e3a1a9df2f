package subvolumes

import (
	"fmt"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// plan are the decisions on one filesystem, with what acting on them needs.
type plan struct {
	options   teardown.Options
	inventory inventory
	journals  map[ceph.JournalName]ceph.Journal
	// decisions in the order in which they were made: shallow volumes, snapshots, subvolumes, rests.
	decisions []teardown.Decision
	// goes is what is removed, stays the decisions on the rest.
	goes  map[volumeKey]bool
	stays map[volumeKey]teardown.Decision
	// shown are snapshots that stay for shallow volumes that were meant to stay.
	shown map[volumeKey]bool
	tags  map[string]int
	alive []string
}

// volumeKey is a volume or snapshot of the filesystem, by the UUID in its handle.
type volumeKey struct {
	snapshot bool
	uuid     string
}

func keyOf(i teardown.Item) volumeKey { return volumeKey{i.Kind == teardown.SubvolumeSnapshot, i.UUID} }

// decide decides on one filesystem, on what was read alone. In the order of removal, since
// what stays keeps what it needs:
//
//	shallow volume    by the tag of its snapshot, and of the same namespace; or recorded
//	snapshot          tag, name, journal of the right kind and no shallow volume that stays
//	subvolume         tag, name, journal of the right kind and no own snapshot that stays
//	clone in flight   has no tag: only if recorded, or if the cluster's own PersistentVolume names it
//	journal           has no tag: only if recorded, once its volume or snapshot is gone
func decide(o teardown.Options, in inventory) plan {
	p := plan{
		options: o, inventory: in, journals: map[ceph.JournalName]ceph.Journal{},
		goes: map[volumeKey]bool{}, stays: map[volumeKey]teardown.Decision{}, shown: map[volumeKey]bool{}, tags: map[string]int{},
	}
	for _, j := range in.journals {
		p.journals[j.Name()] = j
	}
	p.decideShallow()
	for _, s := range in.subvolumes {
		for _, snapshot := range s.snapshots {
			p.decideSnapshot(s, snapshot)
		}
	}
	for _, s := range in.subvolumes {
		p.decideSubvolume(s)
	}
	p.decideRests()
	return p
}

// take notes a decision. What the run is not limited to stays, and is not listed.
func (p *plan) take(d teardown.Decision) {
	if !p.options.Selected(d.Item) {
		d.Verdict, d.Reason = teardown.Keep, "it is not among the volumes named"
		p.stays[keyOf(d.Item)] = d
		return
	}
	if d.Verdict == teardown.Remove {
		p.goes[keyOf(d.Item)] = true
	} else {
		p.stays[keyOf(d.Item)] = d
	}
	p.decisions = append(p.decisions, d)
}

func (p *plan) count(metadata map[string]string) {
	if tag := ceph.Owner(metadata); tag != "" {
		p.tags[tag]++
	}
}

func (p *plan) journal(kind ceph.JournalKind, uuid string) (ceph.Journal, bool) {
	j, found := p.journals[ceph.JournalName{Kind: kind, UUID: uuid}]
	return j, found
}

// item is what all kinds of the filesystem have in common.
func (p *plan) item(kind teardown.Kind, group, name, uuid string, metadata map[string]string) teardown.Item {
	return teardown.Item{
		Kind: kind, Place: teardown.Place{Filesystem: p.inventory.filesystem.Name, Group: group}, Name: name, UUID: uuid,
		Location: p.inventory.filesystem.ID, Tag: ceph.Owner(metadata),
	}
}

// proof compares tag, name and journal, as facts that one alone does not prove. The words of a
// failed proof say what is missing. In the place of a tag, a witness can name it.
func (p *plan) proof(kind ceph.JournalKind, name, needs, witness string, metadata map[string]string) (reason string, ours bool) {
	parsed, ok := ceph.ParseCSIName(name)
	if !ok || parsed.Temporary {
		return "its name is none that ceph-csi makes", false
	}
	journal, found := p.journal(kind, parsed.UUID)
	object := ceph.JournalName{Kind: kind, UUID: parsed.UUID}.Object()
	switch other := metadata[ceph.TagCluster]; {
	case other != "" && other != p.options.InfraID:
		return fmt.Sprintf("its tags name two clusters: %s=%s too", ceph.TagCluster, other), false
	case !found:
		return fmt.Sprintf("no journal in the RADOS namespaces of ceph-csi names it (%s; --rados-namespace adds others)", strings.Join(p.options.JournalNamespaces, ", ")), false
	case len(journal.Contradictions) > 0:
		return fmt.Sprintf("the parts of %s contradict each other: %s", object, journal.Contradictions[0]), false
	case journal.Image != name:
		return fmt.Sprintf("%s names %q", object, journal.Image), false
	case ceph.Owner(metadata) == "":
		return fmt.Sprintf("without tag, but %s and %s name it", object, witness), true
	case metadata[needs] == "":
		return fmt.Sprintf("%s names it, but it has no %s: unfinished", object, needs), false
	}
	return "tagged, named by " + object, true
}

func (p *plan) decideSnapshot(s subvolume, snap snapshot) {
	p.count(snap.metadata)
	name, _ := ceph.ParseCSIName(snap.name)
	item := p.item(teardown.SubvolumeSnapshot, s.place.Group, snap.name, name.UUID, snap.metadata)
	item.Place.Subvolume, item.Created = s.place.Name, snap.created
	item.Retain = ceph.Retained(snap.metadata, name)
	item.PV = snap.metadata[ceph.TagSnapshotContent]
	item.PVC = teardown.ObjectName(snap.metadata[ceph.TagSnapshotNamespace], snap.metadata[ceph.TagSnapshot])
	journal, journaled := p.journal(ceph.JournalSnapshot, name.UUID)
	switch {
	case snap.unread != "" && journaled:
		p.take(item.Decide(teardown.Refuse, "whose it is cannot be read: "+snap.unread))
		return
	case item.Tag == "" && !(journaled && journal.Image == snap.name), item.Tag != "" && item.Tag != p.options.InfraID:
		return
	case item.Tag == "" && p.witness(item) == "":
		p.take(item.Decide(teardown.Keep, untagged))
		return
	}
	reason, ours := p.proof(ceph.JournalSnapshot, snap.name, ceph.TagSnapshotContent, p.witness(item), snap.metadata)
	switch {
	case !ours:
		p.take(item.Decide(teardown.Refuse, reason))
	case journal.Source != s.place.Name:
		p.take(item.Decide(teardown.Refuse, fmt.Sprintf("%s says that it is of %q", journal.Name().Object(), journal.Source)))
	case snap.copied:
		p.take(item.Decide(teardown.Refuse, "a clone is being made of it: cancel that (ceph fs clone cancel), or wait until it is done"))
	default:
		p.take(p.needed(s, item, reason))
	}
}

// needed looks who still needs a snapshot of ours.
func (p *plan) needed(s subvolume, item teardown.Item, reason string) teardown.Decision {
	if hosts := p.snapshotMountedAt(s.place, item.Name); len(hosts) > 0 {
		where := strings.Join(hosts, ", ")
		p.alive = append(p.alive, fmt.Sprintf("snapshot %s of subvolume %s is mounted at %s", item.Name, s.place, where))
		return item.Decide(teardown.Refuse, "it is mounted at "+where)
	}
	if blocker, verdict := p.shownBy(item.UUID); blocker != "" {
		p.shown[keyOf(item)] = verdict == teardown.Keep
		return item.Decide(verdict, blocker)
	}
	return p.options.Judge(item, reason)
}

// meant says that something stays because it was meant to, and not for what speaks against its removal.
func (p *plan) meant(it volumeKey) bool {
	return p.stays[it].Verdict == teardown.Keep && (p.stays[it].Retain || p.shown[it])
}

// shownBy names a shallow volume that shows a snapshot and stays. What was meant to stay keeps what it
// needs.
func (p *plan) shownBy(uuid string) (string, teardown.Verdict) {
	kept := ""
	for _, j := range p.inventory.journals {
		it := volumeKey{uuid: j.UUID}
		if backing, ok := p.backing(j); !ok || backing != uuid || p.goes[it] {
			continue
		}
		kept = fmt.Sprintf("shallow volume %s shows it, and stays: %s", j.Image, p.stays[it].Reason)
		if !p.meant(it) {
			return kept, teardown.Refuse
		}
	}
	for _, r := range p.inventory.references {
		if r.uuid != uuid {
			continue
		}
		if r.unread != "" {
			return "who shows it cannot be read: " + r.unread, teardown.Refuse
		}
		for key, masked := range r.tracker.Masked {
			name, ok := ceph.ParseCSIName(key)
			it := volumeKey{uuid: name.UUID}
			if key != r.handle && !masked && (!ok || !p.goes[it] && !p.meant(it)) {
				return fmt.Sprintf("%s shows it, and stays", key), teardown.Refuse
			}
		}
	}
	return kept, teardown.Keep
}

func (p *plan) decideSubvolume(s subvolume) {
	p.count(s.metadata)
	name, isName := ceph.ParseCSIName(s.place.Name)
	item := p.item(teardown.Subvolume, s.place.Group, s.place.Name, name.UUID, s.metadata)
	item.Size, item.Created, item.Retain = s.size, s.created, ceph.Retained(s.metadata, name)
	item.PV = s.metadata[ceph.TagPV]
	item.PVC = teardown.ObjectName(s.metadata[ceph.TagPVCNamespace], s.metadata[ceph.TagPVC])
	journal, journaled := p.journal(ceph.JournalVolume, name.UUID)
	switch {
	case s.state == ceph.SubvolumeRetained || item.Tag != "" && item.Tag != p.options.InfraID:
		return
	case item.Tag == "" && !(isName && journaled && journal.Image == s.place.Name):
		return
	case s.unread != "":
		p.take(item.Decide(teardown.Refuse, "whose it is cannot be read: "+s.unread))
		return
	case item.Tag == "" && s.inFlight():
		p.take(p.unfinishedClone(item))
		return
	case item.Tag == "" && p.witness(item) == "":
		p.take(item.Decide(teardown.Keep, untagged))
		return
	}
	reason, ours := p.proof(ceph.JournalVolume, s.place.Name, ceph.TagPV, p.witness(item), s.metadata)
	if !ours {
		p.take(item.Decide(teardown.Refuse, reason))
		return
	}
	d := p.options.Judge(item, reason)
	if d.Verdict != teardown.Remove {
		p.take(d)
		return
	}
	p.take(p.beside(s, d))
}

// beside looks at what hangs on a subvolume of ours: who has it mounted, and its snapshots.
func (p *plan) beside(s subvolume, d teardown.Decision) teardown.Decision {
	if hosts := p.mountedAt(s.place); len(hosts) > 0 {
		sentence := fmt.Sprintf("subvolume %s is mounted at %s", s.place, strings.Join(hosts, ", "))
		p.alive = append(p.alive, sentence)
		return d.Decide(teardown.Refuse, "it is mounted at "+strings.Join(hosts, ", "))
	}
	var foreign []string
	for _, snap := range s.snapshots {
		name, _ := ceph.ParseCSIName(snap.name)
		it := volumeKey{true, name.UUID}
		switch stays, known := p.stays[it]; {
		case p.goes[it] && !p.isCloning(snap.name):
		case known && name.UUID != "" && !p.nobodys(snap, stays.Item):
			verdict := teardown.Refuse
			if p.meant(it) {
				verdict = teardown.Keep
			}
			return d.Decide(verdict, fmt.Sprintf("its snapshot %s stays: %s", snap.name, stays.Reason))
		case snap.copied && ceph.Owner(snap.metadata) != "" || p.copiedFrom(snap.name):
			return d.Decide(teardown.Refuse, fmt.Sprintf("a clone is being made of its snapshot %s", snap.name))
		default:
			foreign = append(foreign, snap.name)
		}
	}
	if len(foreign) > 0 {
		d.Reason += fmt.Sprintf("; its data goes, but it is kept for foreign snapshot %s", strings.Join(foreign, ", "))
	}
	return d
}
