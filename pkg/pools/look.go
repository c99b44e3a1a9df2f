package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

// look is one look at one Ceph cluster, and what is done there.
type look struct {
	*Care
	demand
	client  Cluster
	cluster ceph.Cluster
	view    *view
	has     driver.Inventory
	found   findings
	// silentOSDs and silentManager gave no answer in this look; they are not waited for again.
	silentOSDs, silentManager bool
	// keep says that nothing is to be released: the pools of a filesystem that was removed still
	// hold its data, and nobody can tell any more which they were.
	keep bool
	// used are the names of the pools in use that show it; nil where the look did not come that far.
	used []string
	// withheld are pools with something that is not to be withdrawn yet, by ID.
	withheld map[int64]bool
}

func (l *look) run(ctx context.Context) error {
	var err error
	if l.has, err = l.Driver.Inventory(ctx, l.client); err != nil {
		return err
	}
	for _, place := range l.usage.In(l.cluster) {
		if len(place.Classes) > 0 {
			lacks, err := l.lacks(ctx, place)
			if err != nil {
				return err
			}
			for _, class := range place.Classes {
				l.complain(class, lacks)
			}
		}
		if place.Volumes > 0 {
			l.lose(l.Driver.Storage.Lost(l.has, place.Placement, place.IDs), place.Volumes)
		}
		for _, a := range place.Astray {
			if !l.Open() {
				break // Another ceph-csi serves them, from a config.json of its own.
			}
			l.found.astray = append(l.found.astray, fmt.Sprintf("Ceph cluster %s: volumes are in %s of filesystem %q, and ceph-csi looks for those of clusterID %q in %s only, "+
				"as config.json says: it takes each for deleted, so that its data would stay, and mounts none that has no attribute subvolumeGroup; say Retain in their PersistentVolumes until they are found again: "+
				"the README of tags tells how volumes of an earlier cluster are taken over", l.cluster.FSID, a.Directory, place.Filesystem, a.ClusterID, a.Wanted))
		}
	}
	if l.place.FSID == l.cluster.FSID {
		l.keep = len(l.Driver.Storage.Holding(l.has, l.place, nil)) == 0
	}
	wanted := l.wants()
	l.withhold(ctx, wanted)
	for id, want := range wanted {
		wanted[id] = l.wish(want)
	}
	err = l.mark(ctx, wanted)
	l.used = inUse(l.has.Pools, wanted, l.user)
	l.measure(ctx, wanted)
	return err
}

// wants says what is used of each pool, whether pools are protected or not.
func (l *look) wants() map[int64]wishes {
	wanted := map[int64]wishes{}
	for _, id := range l.othersPools() {
		wanted[id] = held
	}
	var own []int64
	for _, place := range l.usage.In(l.cluster) {
		if place.OnlyNamed() && driver.Mistaken(l.Driver.Storage, l.has, place.Placement) {
			continue // A class that names somebody else's pool does not use it.
		}
		own = append(own, l.Driver.Storage.Holding(l.has, place.Placement, place.IDs)...)
	}
	if l.place.FSID == l.cluster.FSID {
		own = append(own, l.Driver.Storage.Holding(l.has, l.place, nil)...)
	}
	for _, id := range own {
		wanted[id] = kept
	}
	for _, id := range l.legacyPools() {
		wanted[id] = max(wanted[id], held)
	}
	l.keepData(wanted)
	return wanted
}

func (l *look) complain(class string, lacks []driver.Lack) {
	for _, lack := range lacks {
		text := fmt.Sprintf("StorageClass %s, Ceph cluster %s: %s", class, l.cluster.FSID, lack.Text)
		l.found.classes = append(l.found.classes, classProblem{class: class, text: text})
		if lack.Missing != "" {
			l.found.missing = append(l.found.missing, lack.Missing)
		}
	}
}

func (l *look) lose(lost []driver.Lack, volumes int) {
	for _, lack := range lost {
		l.found.lost = append(l.found.lost, fmt.Sprintf("Ceph cluster %s: %s, and %s in it",
			l.cluster.FSID, lack.Text, plural(volumes, "volume of this cluster is", "volumes of this cluster are")))
		l.found.missing = append(l.found.missing, lack.Missing)
	}
}

// mark claims and protects pools in use and releases others, also those that are no longer in use
// since before this process was started.
func (l *look) mark(ctx context.Context, wanted map[int64]wishes) error {
	denied, refusals := map[string][]string{}, map[string]error{}
	for _, p := range l.has.Pools {
		want := wanted[p.ID]
		if l.withheld[p.ID] || next(p, l.user, want) == nothing {
			continue
		}
		if want != gone && len(p.Applications) == 0 {
			l.found.trouble = append(l.found.trouble, trouble{condition.NotProtected, fmt.Sprintf(
				"pool %q of Ceph cluster %s has no application to record its use with; enable one: ceph osd pool application enable %s %s",
				p.Name, l.cluster.FSID, shell.Quote(p.Name), l.Driver.Kind)})
			continue
		}
		if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < markReserve {
			l.found.waiting++
			continue
		}
		pools, err := mark(ctx, l.client, l.has.Pools, p.ID, l.user, want)
		l.tell(p, pools)
		l.has.Pools = pools
		if errors.Is(err, ceph.ErrDenied) {
			now, _ := byID(pools, p.ID)
			outcome := undone(now, l.user, want)
			denied[outcome] = append(denied[outcome], p.Name)
			refusals[outcome] = cmp.Or(refusals[outcome], err)
			continue
		}
		if refusedAlone(err) {
			l.refusedOne(ctx, p.ID, want, err)
			continue
		}
		if err != nil && !errors.Is(err, ceph.ErrNotFound) {
			return err
		}
	}
	if l.found.waiting > 0 {
		l.found.trouble = append(l.found.trouble, trouble{condition.NotProtected, fmt.Sprintf(
			"%s of Ceph cluster %s: the operator has not come to them yet, each takes some seconds",
			plural(l.found.waiting, "pool", "pools"), l.cluster.FSID)})
	}
	for _, outcome := range slices.Sorted(maps.Keys(denied)) {
		l.found.trouble = append(l.found.trouble, l.refused(denied[outcome], outcome, refusals[outcome]))
	}
	for _, p := range l.has.Pools {
		switch want := wanted[p.ID]; {
		case want != gone && p.NoDelete:
			l.found.protected = append(l.found.protected, p.Name)
		case want.keeps():
			l.found.unprotected = append(l.found.unprotected, p.Name)
		}
	}
	return nil
}

// unsure says that nothing is to be released.
func (l *look) unsure() bool { return l.undecided || l.keep || len(l.found.lost) > 0 }

// wish is what becomes of a wish under the settings.
func (l *look) wish(wanted wishes) wishes {
	switch {
	case l.protect || wanted == gone:
		return wanted
	case wanted == held:
		return gone
	}
	return used
}

// tell writes an event when the flag has changed.
func (l *look) tell(before ceph.Pool, pools []ceph.Pool) {
	now, found := byID(pools, before.ID)
	switch {
	case !found || now.NoDelete == before.NoDelete:
	case now.NoDelete:
		l.Recorder.Eventf("CephPoolProtected", "Pool %q of Ceph cluster %s is in use and can no longer be removed", now.Name, l.cluster.FSID)
	default:
		l.Recorder.Eventf("CephPoolReleased", "Pool %q of Ceph cluster %s is no longer in use and can be removed", now.Name, l.cluster.FSID)
	}
}
