package pools

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/proof"
)

// searchDeadline bounds the search for volumes that Kubernetes does not know: pools are still to be
// marked afterwards.
const searchDeadline = careDeadline / 2

// withdraws says that a wish takes something away from a pool for want of use: the claim, the right
// that it gives, or the flag.
func withdraws(m marks, wanted wishes) bool {
	switch wanted {
	case gone:
		return m.own != "" || m.flagged && m.keepers+m.leavers+m.others == 0
	case held:
		return m.own == driver.ClaimInUse || m.own == driver.ClaimUnprotected
	}
	return false
}

// withhold keeps from being withdrawn what no proof covers, or Ceph itself knows better about. What
// the proof has seen in use stays as it is, and is added to what is wanted.
//
//	caches: in use | proof  | looks: in use | Ceph: tagged volumes |
//	yes            | –      | –             | –                    | kept
//	no             | none   | –             | not asked before     | left as it is, and looks are taken
//	no             | none   | –             | as it was last       | as then
//	no             | broken | –             | –                    | left as it is; the condition says why
//	no             | there  | yes           | –                    | kept
//	no             | there  | no            | some, or unreadable  | kept; the condition says why
//	no             | there  | no            | none                 | withdrawn
func (l *look) withhold(ctx context.Context, wanted map[int64]wishes) {
	l.withheld = map[int64]bool{}
	var unproven []string
	var why error
	var asked, again []int64
	for _, p := range l.has.Pools {
		if !withdraws(read(p, l.user), wanted[p.ID]) {
			delete(l.view.unused, p.ID)
			delete(l.view.answers, p.ID)
			continue
		}
		if l.unsure() {
			l.withheld[p.ID] = true
			continue
		}
		if _, known := l.view.unused[p.ID]; !known {
			l.view.unused[p.ID] = l.Clock.Now()
		}
		seen, err := l.Proof.Since(l.view.unused[p.ID])
		if _, answered := l.view.answers[p.ID]; answered && errors.Is(err, proof.ErrNotYet) {
			again = append(again, p.ID)
			continue
		}
		if err != nil {
			l.withheld[p.ID] = true
			if wanted[p.ID] != held {
				why, unproven = err, append(unproven, p.Name)
			}
			continue
		}
		for _, at := range seen {
			then := *l
			then.usage = at
			wanted[p.ID] = max(wanted[p.ID], then.wants()[p.ID])
		}
		delete(l.view.answers, p.ID)
		if withdraws(read(p, l.user), wanted[p.ID]) {
			asked = append(asked, p.ID)
		}
	}
	if len(unproven) > 0 {
		l.explain(unproven, why)
	}
	if len(asked) > 0 {
		l.askCeph(ctx, asked)
	}
	l.obey(wanted, append(asked, again...))
}

func (l *look) explain(names []string, why error) {
	text := fmt.Sprintf("%s of Ceph cluster %s: no use of them is known, and they are released once that has been seen twice, %s apart",
		quotedPools(names), l.cluster.FSID, l.apart)
	if !errors.Is(why, proof.ErrNotYet) {
		text = fmt.Sprintf("%s of Ceph cluster %s: no use of them is known, and nothing is released because that is no proof: %v",
			quotedPools(names), l.cluster.FSID, why)
	}
	l.found.withheld = append(l.found.withheld, text)
}

// askCeph looks for volumes of this cluster that its API server does not know, as after a restore of
// yesterday's etcd. All claimed pools are searched: images may have their data elsewhere.
func (l *look) askCeph(ctx context.Context, asked []int64) {
	search := slices.Clone(asked)
	for _, p := range l.has.Pools {
		if read(p, l.user).own != "" {
			search = append(search, p.ID)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, searchDeadline)
	defer cancel()
	found, err := l.Driver.Storage.Tagged(ctx, l.client, l.has, l.user.infraID, search)
	if err != nil {
		for _, id := range asked {
			l.view.answers[id] = answer{err: err}
		}
		return
	}
	for _, place := range found {
		for _, id := range l.Driver.Storage.Holding(l.has, place.Placement, nil) {
			if slices.Contains(asked, id) {
				l.view.answers[id] = answer{examples: append(l.view.answers[id].examples, place.Example)}
			}
		}
	}
}

// obey keeps the pools that Ceph's last answers keep, and says why.
func (l *look) obey(wanted map[int64]wishes, ids []int64) {
	keeping := map[string][]string{}
	var unknown []string
	for _, id := range ids {
		last, answered := l.view.answers[id]
		switch p, _ := byID(l.has.Pools, id); {
		case last.err != nil:
			l.withheld[id] = true
			unknown = append(unknown, fmt.Sprintf("Ceph cluster %s: nothing is released, because nobody can tell whose the volumes there are: %v", l.cluster.FSID, last.err))
		case answered:
			wanted[id] = kept
			for _, example := range last.examples {
				keeping[example] = append(keeping[example], p.Name)
			}
		}
	}
	slices.Sort(unknown)
	l.found.withheld = append(l.found.withheld, slices.Compact(unknown)...)
	for _, example := range slices.Sorted(maps.Keys(keeping)) {
		l.found.withheld = append(l.found.withheld, fmt.Sprintf(
			"%s of Ceph cluster %s: they are kept for what is tagged with %q in Ceph and has no PersistentVolume or VolumeSnapshotContent, such as %s",
			quotedPools(keeping[example]), l.cluster.FSID, l.user.infraID, example))
	}
}
