package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorv1 "github.com/openshift/api/operator/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/condition"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// linkOf returns the link with a queue key, or nil.
func (c *Connection[S]) linkOf(key string) *link[S] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.links[key]
}

// ordered are all links, by their keys.
func (c *Connection[S]) ordered() []*link[S] {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*link[S]
	for _, key := range slices.Sorted(maps.Keys(c.links)) {
		out = append(out, c.links[key])
	}
	return out
}

// views are those of all sources and links.
func (c *Connection[S]) views(w world) []view {
	sources := map[string]source{}
	for _, s := range w.sources {
		sources[s.key] = s
	}
	var out []view
	for _, l := range c.ordered() {
		s, found := sources[l.key]
		if !found {
			s = source{key: l.key}
		}
		out = append(out, l.view(s))
		delete(sources, l.key)
	}
	for _, s := range sources { // without a link yet
		out = append(out, (&link[S]{key: s.key, config: c.config}).view(s))
	}
	slices.SortFunc(out, func(a, b view) int { return strings.Compare(a.key, b.key) })
	return out
}

// arrange makes the links of new sources and ends those of sources that are gone, but the last
// one to the Ceph cluster in use. It returns the keys of all.
func (c *Connection[S]) arrange(w world) []string {
	here := func(key string) bool {
		return slices.ContainsFunc(w.sources, func(s source) bool { return s.key == key })
	}
	views := c.views(w)
	var gone []*link[S]
	c.mu.Lock()
	for _, v := range views {
		if _, known := c.links[v.key]; !known {
			c.links[v.key] = &link[S]{key: v.key, config: c.config}
		}
		last := v.live && v.cluster.FSID == w.recorded.FSID && !served(w.recorded.FSID, views, v.key)
		if !here(v.key) && !last {
			gone = append(gone, c.links[v.key])
			delete(c.links, v.key)
		}
	}
	keys := slices.Sorted(maps.Keys(c.links))
	c.mu.Unlock()
	for _, l := range gone {
		l.close()
	}
	return keys
}

func (c *Connection[S]) closeAll() {
	for _, l := range c.ordered() {
		l.close()
	}
}

// settle publishes, records and reports what all links have found.
func (c *Connection[S]) settle(ctx context.Context, managed bool) error {
	c.settling.Lock()
	defer c.settling.Unlock()
	w, err := c.gather()
	if err != nil {
		return c.report(ctx, outcome{verdict: verdict{condition.SyncError, err.Error()}, known: true})
	}
	views := c.views(w)
	fsid, rivals := choose(w, views)
	all, notes := clusters(views)
	before, _ := c.Reports.Get()
	told := reports(views, before, c.config.Clock.Now())
	if len(told)+len(before) > 0 {
		c.Reports.Set(told)
	}
	for i := range all {
		for _, r := range told {
			if r.FSID == all[i].FSID {
				all[i].Releases, all[i].Version, all[i].EpochSince = r.Releases, r.Version, r.EpochSince
			}
		}
	}
	// Recorded first: of mons that pods alone know, the next process would not hear.
	if managed {
		err = c.remember(ctx, w, views, fsid)
	}
	// Who sees the one in use with new mons sees them among all, too.
	if _, published := c.Clusters.Get(); published || len(all) > 0 {
		c.Clusters.Set(all)
	}
	for _, cluster := range all {
		if cluster.FSID == fsid {
			c.Cluster.Set(cluster)
		}
	}
	if err != nil {
		return errors.Join(err, c.report(ctx, outcome{verdict: verdict{condition.SyncError, err.Error()}, known: true}))
	}
	o := w.judge(views, fsid, rivals)
	o.notes = append(notes, o.notes...)
	o.tooOld, o.told = tooOld(views), w.told(views)
	return c.report(ctx, o)
}

// remember records the clusters for the next process. Only what was just read is recorded, so
// that a record which a person deleted comes back from Ceph alone.
func (c *Connection[S]) remember(ctx context.Context, w world, views []view, fsid string) error {
	previous, _, err := c.record.Load()
	if err != nil {
		return err
	}
	next := previous
	var learnt []view
	for _, v := range views {
		if v.live && v.unsaved && v.cluster.FSID == fsid {
			next = next.Succeed(state.ClusterOf(v.cluster))
			learnt = append(learnt, v)
		}
	}
	if next.FSID == "" {
		return nil
	}
	for _, v := range views {
		if v.live && v.unsaved && v.cluster.FSID != next.FSID {
			next = next.Beside(state.ClusterOf(v.cluster))
			learnt = append(learnt, v)
		}
	}
	if len(learnt) == 0 {
		return nil
	}
	if err := c.record.Save(ctx, next); err != nil {
		return err
	}
	for _, v := range learnt {
		if l := c.linkOf(v.key); l != nil {
			l.saved(v.cluster)
		}
	}
	return nil
}

func (c *Connection[S]) report(ctx context.Context, o outcome) error {
	if !o.known {
		return nil
	}
	return condition.Say(ctx, c.config.Operator, c.Name(), o.types(), conditionsOf(o)...)
}

func conditionsOf(o outcome) []*condition.Said {
	degraded := condition.Good(condition.ConnectionDegraded)
	if o.verdict.bad() {
		degraded = condition.New(condition.ConnectionDegraded, operatorv1.ConditionTrue, o.verdict.reason, o.verdict.message)
	}
	used := condition.New(condition.SourcesUsed, operatorv1.ConditionTrue, condition.AsExpected, "")
	if noted := merge(o.notes); noted.bad() {
		used = condition.New(condition.SourcesUsed, operatorv1.ConditionFalse, noted.reason, noted.message)
	}
	out := []*condition.Said{degraded, used}
	if len(o.tooOld) > 0 {
		out = append(out, condition.New(condition.ReleaseUpgradeable, operatorv1.ConditionFalse, condition.CephTooOld, strings.Join(o.tooOld, "; ")))
	}
	return out
}

// types are those that are taken back where there is nothing to say of them. That the Ceph cluster is silent
// does not make its release a newer one.
func (o outcome) types() []string {
	if !o.told {
		return nil
	}
	return []string{condition.ReleaseUpgradeable}
}

// told says whether each Ceph cluster that was seen before has told its release: the one in use, while the driver is
// deployed or a Ceph cluster declared, and those beside it that are declared still.
func (w world) told(views []view) bool {
	tells := func(fsid string) bool {
		return slices.ContainsFunc(views, func(v view) bool { return v.live && v.cluster.FSID == fsid && v.versions.Oldest() != "" })
	}
	declared := func(fsid string) bool {
		return slices.ContainsFunc(views, func(v view) bool { return v.exists() && v.declared == fsid })
	}
	givenUp := w.decided && !w.wanted && !slices.ContainsFunc(views, func(v view) bool { return v.exists() })
	if w.recorded.FSID != "" && !givenUp && !tells(w.recorded.FSID) {
		return false
	}
	return !slices.ContainsFunc(w.recorded.Others, func(o state.Other) bool { return declared(o.FSID) && !tells(o.FSID) })
}

// tooOld are the Ceph clusters that the next version does not work with, in sentences.
func tooOld(views []view) []string {
	var out []string
	for _, v := range views {
		if oldest := v.versions.Oldest(); v.live && ceph.TooOld(oldest) {
			out = append(out, fmt.Sprintf("Ceph cluster %s runs release %s, and the next version of this operator needs %d.%d or later: upgrade Ceph first, and see with `ceph versions` that all of it is",
				v.cluster.FSID, oldest, ceph.OldestMajor, ceph.OldestMinor))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
