package subvolumes

import (
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// Remove removes filesystem by filesystem: the record is written first and struck last, and whatever
// is removed goes before its journal.
func (p *part) Remove(ctx context.Context, agreed []teardown.Decision, tell func(teardown.Outcome)) error {
	if p.Clock.Since(p.found) > teardown.Freshness {
		if _, err := p.Find(ctx, nil); err != nil {
			return err
		}
	}
	defer func() {
		p.manager.Close()
		p.manager = nil
	}()
	for _, plan := range p.plans {
		todo := removal{part: p, plan: plan, tell: tell, failed: map[volumeKey]bool{}, mounts: mounts{looked: p.found}}
		if err := todo.run(ctx, agreed); err != nil {
			return err
		}
	}
	return nil
}

// removal is the removal from one filesystem.
type removal struct {
	*part
	plan plan
	tell func(teardown.Outcome)
	// failed is what could not be removed in the phases before.
	failed   map[volumeKey]bool
	failures int
	mounts   mounts
	// runs are those whose records this one removes at the end: its own, and those of earlier ones
	// unless it is limited.
	runs []string
}

func (r *removal) run(ctx context.Context, agreed []teardown.Decision) error {
	agreed = r.stillAgreed(agreed)
	if len(agreed) == 0 {
		return nil
	}
	in := r.plan.inventory
	if lacks := in.recorded.lacks(r.InfraID, agreed); len(lacks.Entries) > 0 {
		r.runs = []string{teardown.NewRun(r.Clock.Now())}
		if err := appendRecord(ctx, r.Ceph, in.pool, r.runs[0], lacks); err != nil {
			return err
		}
	}
	if len(r.Volumes) == 0 {
		r.runs = append(r.runs, in.recorded.runs...)
	}
	for _, phase := range []struct {
		kind teardown.Kind
		do   func(context.Context, teardown.Decision) (string, error)
	}{
		{teardown.ShallowVolume, r.removeShallow},
		{teardown.SubvolumeSnapshot, r.removeSnapshot},
		{teardown.Subvolume, r.removeSubvolume},
		{teardown.Journal, r.removeRest},
	} {
		if err := r.each(ctx, agreed, phase.kind, phase.do); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
	}
	if err := r.loaded(ctx, func(ctx context.Context) error { return r.verify(ctx, agreed) }); err != nil {
		return err
	}
	return r.strike(ctx, agreed)
}

// stillAgreed leaves out what has changed since it was shown.
func (r *removal) stillAgreed(agreed []teardown.Decision) []teardown.Decision {
	var out []teardown.Decision
	for _, d := range agreed {
		// Items of another filesystem, or of its metadata pool, are another removal's.
		if d.Place.Filesystem != r.plan.inventory.filesystem.Name && (d.Kind != teardown.Record || d.Place.Pool != r.plan.inventory.pool) {
			continue
		}
		same := slices.ContainsFunc(r.plan.decisions, func(now teardown.Decision) bool { return now.Item == d.Item && now.Verdict == teardown.Remove })
		if !same {
			r.failures++
			r.tell(teardown.Outcome{Decision: d, Err: teardown.ErrChanged})
			continue
		}
		out = append(out, d)
	}
	return out
}

// each does one phase, some at a time. Its error is that of ctx.
func (r *removal) each(ctx context.Context, agreed []teardown.Decision, kind teardown.Kind, do func(context.Context, teardown.Decision) (string, error)) error {
	agreed = slices.DeleteFunc(slices.Clone(agreed), func(d teardown.Decision) bool { return d.Kind != kind })
	faults := make([]error, len(agreed))
	err := r.hurried(ctx, r.plan.inventory.filesystem.Name, min(r.Workers(), managerWorkers), len(agreed), func(ctx context.Context, i int) error {
		note, err := do(ctx, agreed[i])
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		faults[i] = err
		r.tell(teardown.Outcome{Decision: agreed[i], Note: note, Err: err})
		return nil
	})
	for i, fault := range faults {
		if fault != nil {
			r.failures++
			r.failed[keyOf(agreed[i].Item)] = true
		}
	}
	return err
}

// verify reads again what is there.
func (r *removal) verify(ctx context.Context, agreed []teardown.Decision) error {
	byGroup := map[string][]string{}
	for _, d := range agreed {
		if d.Kind == teardown.Subvolume {
			byGroup[d.Place.Group] = append(byGroup[d.Place.Group], d.Name)
		}
	}
	for group, names := range byGroup {
		left, err := teardown.Limited(ctx, func(ctx context.Context) ([]string, error) {
			return r.manager.Subvolumes(ctx, r.plan.inventory.filesystem.Name, group)
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(left, name) {
				continue
			}
			info, err := teardown.Limited(ctx, func(ctx context.Context) (ceph.Subvolume, error) {
				return r.manager.Subvolume(ctx, ceph.SubvolumePlace{Filesystem: r.plan.inventory.filesystem.Name, Group: group, Name: name})
			})
			if err == nil && info.State != ceph.SubvolumeRetained && r.failures == 0 {
				return fmt.Errorf("subvolume %s was removed, but is there again", name)
			}
		}
	}
	return nil
}

// strike removes the record, once it is of no use.
func (r *removal) strike(ctx context.Context, agreed []teardown.Decision) error {
	return teardown.StrikeRecords(agreed, r.failures > 0, func() error {
		return r.again(ctx, func(ctx context.Context) error {
			return r.Ceph.RemoveRecords(ctx, r.plan.inventory.pool, recordNamespace, recordObject(r.InfraID), r.runs)
		})
	}, r.tell)
}
