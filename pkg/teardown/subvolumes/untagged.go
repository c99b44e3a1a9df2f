package subvolumes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// backing is the UUID of the snapshot that a shallow volume of this filesystem shows.
func (p *plan) backing(j ceph.Journal) (string, bool) {
	if j.Kind != ceph.JournalVolume || j.BackingSnapshot == "" {
		return "", false
	}
	handle, err := ceph.ParseVolumeHandle(j.BackingSnapshot)
	if err != nil || handle.LocationID != p.inventory.filesystem.ID {
		return "", false
	}
	return handle.UUID, true
}

// decideShallow: a shallow volume has no object with a tag.
func (p *plan) decideShallow() {
	for _, j := range p.inventory.journals {
		if j.Kind != ceph.JournalVolume || j.BackingSnapshot == "" {
			continue
		}
		item := p.item(teardown.ShallowVolume, "", j.Image, j.UUID, nil)
		item.PV, item.PVC = j.Request, teardown.ObjectName(j.Owner, "")
		uuid, ok := p.backing(j)
		s, snap, found := p.snapshotOf(uuid)
		item.Place.Group = s.place.Group
		tag := ceph.Owner(snap.metadata)
		name, _ := ceph.ParseCSIName(j.Image)
		recorded := p.inventory.recorded.has(j.UUID, teardown.ShallowVolume)
		switch {
		case found && tag != "" && tag != p.options.InfraID:
			// Another cluster's.
			p.stays[volumeKey{uuid: j.UUID}] = item.Decide(teardown.Keep, "its snapshot is of "+tag)
		case !ok || name.UUID != j.UUID || len(j.Contradictions) > 0:
			p.take(item.Decide(p.doubt(tag), "its journal contradicts itself, or names no snapshot of this filesystem"))
		case recorded && !found:
			p.take(p.options.Judge(item, "recorded by an earlier run"))
		case !found || tag == "" && p.witness(item) == "":
			p.take(item.Decide(teardown.Keep, "its snapshot is gone, or has no tag: nobody knows whose it is"))
		default:
			item.Tag, item.Retain = tag, snap.metadata[ceph.TagRetainShown(j.UUID)] == ceph.RetainMark
			p.take(p.shownHere(s, p.ofSnapshot(item, j, snap)))
		}
	}
}

// doubt: what carries the tag is refused, the rest is none of ours.
func (p *plan) doubt(tag string) teardown.Verdict {
	if tag == p.options.InfraID {
		return teardown.Refuse
	}
	return teardown.Keep
}

// shownHere looks who has the subvolume mounted whose snapshot a shallow volume shows: a node mounts the
// one to show the other.
func (p *plan) shownHere(s subvolume, d teardown.Decision) teardown.Decision {
	hosts := p.mountedAt(s.place)
	if d.Verdict != teardown.Remove || len(hosts) == 0 {
		return d
	}
	where := strings.Join(hosts, ", ")
	p.alive = append(p.alive, fmt.Sprintf("subvolume %s, of which shallow volume %s shows a snapshot, is mounted at %s", s.place, d.Name, where))
	return d.Decide(teardown.Refuse, "the subvolume of its snapshot is mounted at "+where)
}

// ofSnapshot decides on a shallow volume whose snapshot carries our tag. Another cluster can show
// it as well.
func (p *plan) ofSnapshot(item teardown.Item, j ceph.Journal, snap snapshot) teardown.Decision {
	namespace, other := snap.metadata[ceph.TagSnapshotNamespace], snap.metadata[ceph.TagCluster]
	switch {
	case snap.unread != "":
		return item.Decide(teardown.Refuse, "whose its snapshot is cannot be read: "+snap.unread)
	case other != "" && other != p.options.InfraID:
		return item.Decide(teardown.Refuse, fmt.Sprintf("the tags of its snapshot name two clusters: %s=%s too", ceph.TagCluster, other))
	case p.options.Ours == nil && j.Owner != "" && namespace != "" && j.Owner != namespace:
		return item.Decide(teardown.Refuse, fmt.Sprintf("it is of namespace %s, but its snapshot of %s: perhaps another cluster's", j.Owner, namespace))
	case p.options.Ours != nil && !p.options.Ours(item):
		return item.Decide(teardown.Refuse, "its snapshot has the tag, but no PersistentVolume of the cluster names it: perhaps another cluster's")
	}
	if item.Tag == "" {
		return p.options.Judge(item, fmt.Sprintf("shows %s, and %s names it", snap.name, p.witness(item)))
	}
	return p.options.Judge(item, "shows "+snap.name+", which is tagged")
}

func (p *plan) snapshotOf(uuid string) (subvolume, snapshot, bool) {
	for _, s := range p.inventory.subvolumes {
		for _, snap := range s.snapshots {
			if name, ok := ceph.ParseCSIName(snap.name); ok && uuid != "" && name.UUID == uuid && !p.isCloning(snap.name) {
				return s, snap, true
			}
		}
	}
	return subvolume{}, snapshot{}, false
}

// isCloning: a snapshot with the name of a volume is what ceph-csi clones the volume from.
func (p *plan) isCloning(snapshot string) bool {
	name, _ := ceph.ParseCSIName(snapshot)
	j, found := p.journal(ceph.JournalVolume, name.UUID)
	return found && j.Image == snapshot
}

// copiedFrom: ceph-csi makes a clone of a volume through a snapshot with the clone's name.
func (p *plan) copiedFrom(snapshot string) bool {
	return slices.ContainsFunc(p.inventory.subvolumes, func(s subvolume) bool { return s.inFlight() && s.place.Name == snapshot })
}

// unfinishedClone: a clone in flight gets its tag last.
func (p *plan) unfinishedClone(item teardown.Item) teardown.Decision {
	if witness := p.witness(item); witness != "" {
		return p.options.Judge(item, "a clone in flight that "+witness+" names")
	}
	return item.Decide(teardown.Keep, "a clone in flight has no tag: nobody knows whose it is")
}

// untagged is said of what was made without tags, as the snapshots of a group are, or by a ceph-csi that was killed
// before it wrote them.
const untagged = "it has no tag: nobody knows whose it is"

// witness says what names an item that has no tag: an object of the cluster itself, where those are known, or an earlier
// run, which had them. Empty means nothing.
func (p *plan) witness(item teardown.Item) string {
	switch {
	case p.options.Ours != nil && p.options.Ours(item):
		return "an object of the cluster"
	case p.inventory.recorded.has(item.UUID, item.Kind):
		return "the record of an earlier run"
	}
	return ""
}

// nobodys says of a snapshot that nothing tells whose it is.
func (p *plan) nobodys(snap snapshot, item teardown.Item) bool {
	return snap.unread == "" && ceph.Owner(snap.metadata) == "" && p.witness(item) == ""
}

// decideRests are journals and references whose volume or snapshot is gone.
func (p *plan) decideRests() {
	present := map[string]bool{}
	for _, s := range p.inventory.subvolumes {
		if name, ok := ceph.ParseCSIName(s.place.Name); ok && s.state != ceph.SubvolumeRetained {
			present[name.UUID] = true
		}
		for _, snap := range s.snapshots {
			if name, ok := ceph.ParseCSIName(snap.name); ok && !p.isCloning(snap.name) {
				present[name.UUID] = true
			}
		}
	}
	for _, j := range p.inventory.journals {
		if present[j.UUID] || j.BackingSnapshot != "" {
			continue
		}
		item := p.item(teardown.Journal, "", j.Name().Object(), j.UUID, nil)
		item.PV = j.Request
		if j.Kind == ceph.JournalGroup && p.decideGroup(item, j) {
			continue
		}
		if p.inventory.recorded.has(j.UUID, kindsOf(j.Kind)...) {
			p.take(p.options.Judge(item, "recorded by an earlier run, which removed what it names"))
			continue
		}
		p.take(item.Decide(teardown.Keep, "what it names is gone or unfinished: nobody knows whose it was"))
	}
	p.decideReferences(present)
	if len(p.inventory.recorded.runs) > 0 && len(p.options.Volumes) == 0 {
		p.decisions = append(p.decisions, teardown.EarlierRecord(teardown.Place{Pool: p.inventory.pool, Namespace: recordNamespace}, recordObject(p.options.InfraID)))
	}
}

// decideReferences: those of a snapshot that an earlier run removed.
func (p *plan) decideReferences(present map[string]bool) {
	for _, r := range p.inventory.references {
		_, journaled := p.journal(ceph.JournalSnapshot, r.uuid)
		if present[r.uuid] || journaled || !p.inventory.recorded.has(r.uuid, teardown.SubvolumeSnapshot) {
			continue
		}
		name := ceph.JournalName{Kind: ceph.JournalReferences, Handle: r.handle}.Object()
		item := p.item(teardown.Journal, "", name, r.uuid, nil)
		if blocker, _ := p.shownBy(r.uuid); blocker != "" {
			p.take(item.Decide(teardown.Keep, blocker))
			continue
		}
		p.take(p.options.Judge(item, "recorded by an earlier run, which removed its snapshot"))
	}
}

func kindsOf(kind ceph.JournalKind) []teardown.Kind {
	switch kind {
	case ceph.JournalVolume:
		return []teardown.Kind{teardown.Subvolume, teardown.ShallowVolume}
	case ceph.JournalSnapshot:
		return []teardown.Kind{teardown.SubvolumeSnapshot}
	case ceph.JournalGroup:
		return []teardown.Kind{teardown.Journal}
	}
	return nil
}
