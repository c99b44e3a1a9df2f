package images

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// job is one thing to be removed.
type job struct {
	decision teardown.Decision
	node     *imageNode
	group    *groupNode
	note     string
	err      error
}

// jobs are all of them, in the order of work.
type jobs struct {
	temporary, groups []*job
	levels            [][]*job
}

// each works on all jobs, as many at a time as is allowed, until ctx ends.
func (p *part) each(ctx context.Context, jobs []*job, work func(context.Context, *job)) {
	_ = teardown.Each(ctx, p.options.Workers(), len(jobs), func(ctx context.Context, i int) error {
		if ctx.Err() == nil {
			work(ctx, jobs[i])
		}
		return nil
	})
}

// stillAgreed compares what was agreed on with what is there now.
func (p *part) stillAgreed(agreed []teardown.Decision, tell func(teardown.Outcome)) (jobs, error) {
	var out jobs
	if alive := p.plan.findings(p.options).Alive; len(alive) > 0 && !p.options.Force {
		return out, fmt.Errorf("the cluster came back to life: %s", alive[0])
	}
	groups := map[ceph.GroupRef]*groupNode{}
	for n := range p.plan.groups {
		groups[p.plan.groups[n].group.GroupRef] = &p.plan.groups[n]
	}
	for _, d := range agreed {
		if d.Kind == teardown.Record {
			continue
		}
		j := &job{decision: d}
		if d.Kind == teardown.ImageGroup {
			j.group = groups[ceph.GroupRef{PoolID: d.Location, ID: d.ID}]
			if j.group == nil || j.group.decision.Verdict != teardown.Remove {
				tell(teardown.Outcome{Decision: d, Err: teardown.ErrChanged})
				continue
			}
			out.groups = append(out.groups, j)
			continue
		}
		n, found := p.plan.byRef[ceph.ImageRef{PoolID: d.Location, Namespace: d.Place.Namespace, ID: d.ID}]
		if !found {
			// The mgr may have removed it from the trash meanwhile.
			tell(teardown.Outcome{Decision: d, Note: "gone already"})
			continue
		}
		j.node = &p.plan.nodes[n]
		if now := j.node.decision; now.Verdict != teardown.Remove {
			tell(teardown.Outcome{Decision: d, Err: fmt.Errorf("%w: %s", teardown.ErrChanged, now.Reason)})
			continue
		}
		if d.Kind == teardown.TemporaryImage {
			out.temporary = append(out.temporary, j)
		}
		for len(out.levels) <= j.node.level {
			out.levels = append(out.levels, nil)
		}
		out.levels[j.node.level] = append(out.levels[j.node.level], j)
	}
	return out, nil
}
