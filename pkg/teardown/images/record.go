package images

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// record says what a run was about to remove, when all of it could still be proven. It lies in
// the images' pool from before the first change until all is gone. Whoever goes on after a kill
// knows from it whose the rests are that have lost their tag: trash entries without header, groups
// without images or snapshots, temporary images without the image that they belong to.
type record struct {
	Version int             `json:"version"`
	Images  []recordedImage `json:"images"`
	Groups  []recordedImage `json:"groups,omitempty"`
	// Journals are the UUIDs of groups of snapshots.
	Journals []string `json:"journals,omitempty"`
}

type recordedImage struct {
	Namespace string `json:"namespace,omitempty"`
	ID        string `json:"id"`
	Name      string `json:"name"`
}

// recordObject is the name of the record of a cluster.
func recordObject(infraID string) string { return "csi.teardown.images." + infraID }

// recorded is what the records of all pools say: names by place and ID.
type recorded struct {
	images map[ceph.ImageRef]string
	groups map[ceph.GroupRef]string
	// journals are those of groups of snapshots, by ID of their pool and UUID.
	journals map[ceph.VolumeHandle]bool
	// runs are those that wrote down something, by pool.
	runs map[string][]string
}

func (r *recorded) read(ctx context.Context, from teardown.Recorder, pool ceph.Pool, infraID string) error {
	records, err := from.Records(ctx, pool.Name, "", recordObject(infraID))
	if err != nil {
		return err
	}
	for run, content := range records {
		r.runs[pool.Name] = append(r.runs[pool.Name], run)
		if content == nil {
			continue
		}
		var found record
		if err := json.Unmarshal(content, &found); err != nil || found.Version != teardown.RecordVersion {
			return fmt.Errorf("object %s of pool %s is no record of version %d: look at it, and remove it if it is not needed",
				teardown.RecordName(recordObject(infraID), run), pool.Name, teardown.RecordVersion)
		}
		for _, i := range found.Images {
			r.images[ceph.ImageRef{PoolID: pool.ID, Namespace: i.Namespace, ID: i.ID}] = i.Name
		}
		for _, g := range found.Groups {
			r.groups[ceph.GroupRef{PoolID: pool.ID, ID: g.ID}] = g.Name
		}
		for _, uuid := range found.Journals {
			r.journals[ceph.VolumeHandle{LocationID: pool.ID, UUID: uuid}] = true
		}
	}
	return nil
}

// lacks says that an earlier run was about to remove a group of snapshots of which no key was read.
func (r *recorded) lacks(pool ceph.Pool, journals []ceph.Journal) bool {
	for group := range r.journals {
		if group.LocationID == pool.ID && !slices.ContainsFunc(journals, func(j ceph.Journal) bool {
			return j.Kind == ceph.JournalGroup && j.UUID == group.UUID && len(j.Keys) > 0
		}) {
			return true
		}
	}
	return false
}

// record writes down what will be removed, before anything is.
func (p *part) record(ctx context.Context, todo jobs) error {
	byPool := map[string]*record{}
	at := func(pool string) *record {
		if byPool[pool] == nil {
			byPool[pool] = &record{Version: teardown.RecordVersion}
		}
		return byPool[pool]
	}
	for _, level := range todo.levels {
		for _, j := range level {
			i := j.node.image
			r := at(i.Pool)
			r.Images = append(r.Images, recordedImage{i.Namespace, i.ID, i.Name})
		}
	}
	for _, j := range todo.groups {
		g := j.group.group
		r := at(g.Pool)
		r.Groups = append(r.Groups, recordedImage{g.Namespace, g.ID, g.Name})
	}
	for _, j := range todo.snapshots {
		r := at(j.snapshots.pool)
		r.Journals = append(r.Journals, j.snapshots.journal.UUID)
	}
	p.own = map[string]string{}
	for pool, r := range byPool {
		content, err := json.Marshal(r)
		if err != nil {
			return err
		}
		run := teardown.NewRun(p.clock.Now())
		err = p.patiently(ctx, func(ctx context.Context) error {
			return p.rbd.AppendRecord(ctx, pool, "", recordObject(p.options.InfraID), run, content)
		})
		if err != nil {
			return fmt.Errorf("nothing was removed: %w", err)
		}
		p.own[pool] = run
	}
	return nil
}

// strikes says that the run removes the records of earlier ones from a pool: it looks after all that
// they name.
func strikes(o teardown.Options, pool string) bool {
	return len(o.Volumes) == 0 && looksAt(o, pool)
}

// forget removes the records once they are of no use.
func (p *part) forget(ctx context.Context, agreed []teardown.Decision, needed bool, tell func(teardown.Outcome)) error {
	return teardown.StrikeRecords(agreed, needed, func() error {
		runs := map[string][]string{}
		for pool, run := range p.own {
			runs[pool] = append(runs[pool], run)
		}
		for pool, earlier := range p.plan.recorded.runs {
			if strikes(p.options, pool) {
				runs[pool] = append(runs[pool], earlier...)
			}
		}
		for pool, which := range runs {
			err := p.patiently(ctx, func(ctx context.Context) error {
				return p.rbd.RemoveRecords(ctx, pool, "", recordObject(p.options.InfraID), which)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, tell)
}

// records are the decisions on what earlier runs wrote down.
func (p *plan) records(o teardown.Options) []teardown.Decision {
	var out []teardown.Decision
	for _, pool := range slices.Sorted(maps.Keys(p.recorded.runs)) {
		if strikes(o, pool) {
			out = append(out, teardown.EarlierRecord(teardown.Place{Pool: pool}, recordObject(o.InfraID)))
		}
	}
	return out
}
