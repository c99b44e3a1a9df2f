package teardown

import (
	"context"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// imageJob is one thing to be removed.
type imageJob struct {
	decision Decision
	node     *imageNode
	group    *groupNode
	note     string
	err      error
}

// imageJobs are all of them, in the order of work.
type imageJobs struct {
	temporary, groups []*imageJob
	levels            [][]*imageJob
}

// each works on all jobs, as many at a time as is allowed, until ctx ends.
func (p *Images) each(ctx context.Context, jobs []*imageJob, work func(context.Context, *imageJob)) {
	_ = Each(ctx, p.options.Workers(), len(jobs), func(ctx context.Context, i int) error {
		if ctx.Err() == nil {
			work(ctx, jobs[i])
		}
		return nil
	})
}

// stillAgreed compares what was agreed on with what is there now.
func (p *Images) stillAgreed(agreed []Decision, tell func(Outcome)) (imageJobs, error) {
	var out imageJobs
	if alive := p.plan.findings(p.options).Alive; len(alive) > 0 && !p.options.Force {
		return out, fmt.Errorf("the cluster came back to life: %s", alive[0])
	}
	groups := map[ceph.GroupRef]*groupNode{}
	for n := range p.plan.groups {
		groups[p.plan.groups[n].group.GroupRef] = &p.plan.groups[n]
	}
	for _, d := range agreed {
		if d.Kind == Record {
			continue
		}
		job := &imageJob{decision: d}
		if d.Kind == ImageGroup {
			job.group = groups[ceph.GroupRef{PoolID: d.Location, ID: d.ID}]
			if job.group == nil || job.group.decision.Verdict != Remove {
				tell(Outcome{Decision: d, Err: ErrChanged})
				continue
			}
			out.groups = append(out.groups, job)
			continue
		}
		n, found := p.plan.byRef[ceph.ImageRef{PoolID: d.Location, Namespace: d.Place.Namespace, ID: d.ID}]
		if !found {
			// The mgr may have removed it from the trash meanwhile.
			tell(Outcome{Decision: d, Note: "gone already"})
			continue
		}
		job.node = &p.plan.nodes[n]
		if now := job.node.decision; now.Verdict != Remove {
			tell(Outcome{Decision: d, Err: fmt.Errorf("%w: %s", ErrChanged, now.Reason)})
			continue
		}
		if d.Kind == TemporaryImage {
			out.temporary = append(out.temporary, job)
		}
		for len(out.levels) <= job.node.level {
			out.levels = append(out.levels, nil)
		}
		out.levels[job.node.level] = append(out.levels[job.node.level], job)
	}
	return out, nil
}
