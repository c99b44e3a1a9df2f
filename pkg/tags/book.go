package tags

import (
	"slices"
	"time"
)

// verdict is what was found of one volume or snapshot.
type verdict uint8

const (
	// tagged: the volume has all it should have.
	tagged verdict = iota
	// foreign: it has another cluster's tag, and keeps it.
	foreign
	// astray: ceph-csi does not find it. Its tags are as they should be.
	astray
	// denied: the user of the connection may not read or write its tags.
	denied
	// unheard: no OSD answers, so the user may not, or OSDs went down a moment ago.
	unheard
	// missing: the image or subvolume does not exist.
	missing
	// bare: there is nothing that could be tagged.
	bare
	// unready: it is being made, or its filesystem has no MDS at the moment, or the mgr takes over.
	unready
	// lasting: it has been unready for longer than that takes.
	lasting
	// outrun: its tags were changed since they were read, such as for another volume of the same snapshot.
	outrun
	// failed: Ceph answered something that nobody expected.
	failed
	verdicts
)

// again is how soon a volume is looked at again without news of its PersistentVolume, or of its detachment. Whoever
// changes a tag by hand is the only one else who could have changed a tagged one.
var again = [verdicts]time.Duration{
	tagged:  24 * time.Hour,
	foreign: 30 * time.Minute,
	astray:  30 * time.Minute,
	denied:  10 * time.Minute,
	unheard: 20 * time.Second,
	missing: 30 * time.Minute,
	bare:    24 * time.Hour,
	unready: 30 * time.Second,
	lasting: time.Minute,
	outrun:  0,
	failed:  10 * time.Minute,
}

// patience is how long a volume may be unready before people are told: an MDS or a mgr takes seconds to take over, but an old Ceph
// will never know of tags.
const patience = 10 * time.Minute

// grain is how finely time is told, so that thousands of volumes are due at once, and not each at a time of its own.
const grain = 10 * time.Second

// seen is what is remembered of a volume or snapshot: with 20,000 of them, every byte counts.
type seen struct {
	// at is when it was looked at, in grains from the start.
	at      uint32
	verdict verdict
	// cluster is the place of the fsid in book.clusters, look the last look that found the
	// PersistentVolume.
	cluster, look uint8
}

// problem is what people are told of a volume; there are few.
type problem struct {
	// kind and name are the object's.
	kind, name, fsid string
	verdict          verdict
	// since is when it was first found unready.
	since time.Time
	// text tells what is wrong, mend what to run; both may be empty.
	text, mend string
}

// book is what is known of all volumes and snapshots. A key stands for an object as far as its tags
// depend on it: see controller.key.
type book struct {
	start    time.Time
	entries  map[uint64]seen
	problems map[uint64]problem
	// clusters are the fsids that entries point to.
	clusters []string
	// look counts the looks at all volumes, modulo 256.
	look uint8
	// nextDue is when the first entry is to be looked at again.
	nextDue time.Time
}

func newBook(now time.Time) book {
	return book{start: now, entries: map[uint64]seen{}, problems: map[uint64]problem{}}
}

// put records what was found.
func (b *book) put(key uint64, fsid string, v verdict, now time.Time, p problem) {
	if v == unready {
		p.since = now
		if last := b.problems[key]; !last.since.IsZero() {
			p.since = last.since
		}
		if now.Sub(p.since) >= patience {
			v = lasting
		}
	}
	entry := seen{at: b.grains(now), verdict: v, cluster: b.cluster(fsid), look: b.look}
	b.entries[key] = entry
	b.remind(entry)
	delete(b.problems, key)
	if p.text != "" && len(b.problems) < maxProblems {
		p.fsid, p.verdict = fsid, v
		b.problems[key] = p
	}
}

func (b *book) grains(now time.Time) uint32 { return uint32(now.Sub(b.start) / grain) }

// dueAt is when a volume is to be looked at again.
func (b *book) dueAt(e seen) time.Time {
	return b.start.Add(time.Duration(e.at) * grain).Add(again[e.verdict])
}

func (b *book) remind(e seen) {
	if at := b.dueAt(e); at.Before(b.nextDue) || b.nextDue.IsZero() {
		b.nextDue = at
	}
}

func (b *book) cluster(fsid string) uint8 {
	i := slices.Index(b.clusters, fsid)
	if i < 0 {
		i, b.clusters = len(b.clusters), append(b.clusters, fsid)
	}
	return uint8(i)
}

// begin starts a look at all volumes, find is called for each one, and end forgets those that
// were not found. find says whether a volume is to be looked at.
func (b *book) begin() {
	b.look++
	b.nextDue = time.Time{}
}

func (b *book) find(key uint64, now time.Time) bool {
	entry, known := b.entries[key]
	if !known {
		return true
	}
	entry.look = b.look
	b.entries[key] = entry
	if !b.dueAt(entry).After(now) {
		return true
	}
	b.remind(entry)
	return false
}

// forget has an object looked at in this look. Of one that goes before that, nothing may stay.
func (b *book) forget(key uint64) {
	delete(b.entries, key)
	delete(b.problems, key)
}

func (b *book) end(now time.Time) {
	for key, entry := range b.entries {
		if entry.look != b.look {
			b.forget(key)
		}
	}
	if b.nextDue.IsZero() {
		b.nextDue = now.Add(again[tagged])
	}
}

// count is how many volumes of a Ceph cluster there are of each verdict.
func (b *book) count(fsid string) (out [verdicts]int) {
	cluster := b.cluster(fsid)
	for _, entry := range b.entries {
		if entry.cluster == cluster {
			out[entry.verdict]++
		}
	}
	return out
}
