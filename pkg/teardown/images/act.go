package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

const (
	// busyPatience is how long an image may be busy: a client that died, this program's last run for
	// example, was seen to hold one for up to 80 s.
	busyPatience = 2 * time.Minute
	busyPause    = 2 * time.Second
	// longRemoval is from how many data objects on the mgr removes an image: 1 TiB in usual objects.
	longRemoval = 256 << 10
	// shortRemoval bounds the removal of a small image, perObject what each of its objects takes more.
	shortRemoval = 20 * time.Minute
	perObject    = 20 * time.Millisecond
	// pollPause is how often it is looked whether the mgr is done.
	pollPause = 5 * time.Second
)

// Remove marks temporary images, takes groups apart, and removes images from the last clones to
// their oldest parents, level by level, so that no image goes before its clones are gone.
func (p *part) Remove(ctx context.Context, agreed []teardown.Decision, tell func(teardown.Outcome)) error {
	if p.clock.Since(p.found) > teardown.Freshness {
		if _, err := p.Find(ctx, nil); err != nil {
			return err
		}
	}
	todo, err := p.stillAgreed(agreed, tell)
	if err != nil {
		return err
	}
	if err := p.record(ctx, todo); err != nil {
		return err
	}
	p.each(ctx, todo.temporary, func(ctx context.Context, j *job) {
		image := j.node.image
		if image.Metadata[markKey] == markOf(p.options.InfraID, image) || !image.Header {
			return
		}
		j.err = p.patiently(ctx, func(ctx context.Context) error {
			return p.rbd.SetImageMetadata(ctx, image, markKey, markOf(p.options.InfraID, image))
		})
	})
	p.each(ctx, todo.groups, func(ctx context.Context, j *job) {
		j.err = p.removeGroup(ctx, *j.group)
		tell(teardown.Outcome{Decision: j.decision, Err: j.err})
	})
	failed := map[ceph.ImageRef]error{}
	for _, j := range todo.groups {
		if j.err != nil {
			failed[ceph.ImageRef{}] = j.err
		}
	}
	for _, level := range todo.levels {
		p.each(ctx, level, func(ctx context.Context, j *job) {
			if j.err == nil {
				j.err = p.childFailure(j, failed)
			}
			if j.err == nil {
				j.note, j.err = p.removeImage(ctx, j)
			}
			tell(teardown.Outcome{Decision: j.decision, Note: j.note, Err: j.err})
		})
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: %w", context.Cause(ctx))
		}
		for _, j := range level {
			if j.err != nil {
				failed[j.node.image.ImageRef] = j.err
			}
		}
	}
	p.each(ctx, todo.snapshots, func(ctx context.Context, j *job) {
		j.err = p.removeSnapshotGroup(ctx, *j.snapshots, failed)
		tell(teardown.Outcome{Decision: j.decision, Err: j.err})
	})
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	return p.forget(ctx, agreed, len(failed) > 0 || anyFailed(todo.snapshots), tell)
}

func anyFailed(jobs []*job) bool {
	return slices.ContainsFunc(jobs, func(j *job) bool { return j.err != nil })
}

// childFailure keeps a parent whose clone is still there.
func (p *part) childFailure(j *job, failed map[ceph.ImageRef]error) error {
	for _, c := range j.node.children {
		child := p.plan.nodes[c].image
		if failed[child.ImageRef] != nil {
			return fmt.Errorf("its clone %s could not be removed", child.Path())
		}
	}
	return nil
}

func (p *part) removeGroup(ctx context.Context, g groupNode) error {
	var members []ceph.RBDImage
	for _, m := range g.members {
		members = append(members, p.plan.nodes[m].image)
	}
	if g.journal != nil {
		err := p.patiently(ctx, func(ctx context.Context) error { return p.rbd.RemoveJournal(ctx, g.group.Pool, *g.journal) })
		if err != nil {
			return err
		}
	}
	return p.patiently(ctx, func(ctx context.Context) error { return p.rbd.RemoveImageGroup(ctx, g.group, members) })
}

// removeImage: snapshots, trash, journal, removal. After the move to the trash, tag and name
// alone prove that it is ours, so that the journal may go before the image does: an image without
// journal is found again, a journal without image says nothing about its cluster.
func (p *part) removeImage(ctx context.Context, j *job) (note string, err error) {
	image := j.node.image
	if err := p.patiently(ctx, func(ctx context.Context) error { return p.unused(ctx, image) }); err != nil {
		return "", err
	}
	var own []ceph.ImageSnapshot
	for _, s := range image.Snapshots {
		if s.Kind == ceph.UserSnapshot {
			own = append(own, s)
		}
	}
	if len(own) > 0 {
		err = p.patiently(ctx, func(ctx context.Context) error { return p.rbd.RemoveImageSnapshots(ctx, image, own) })
		if err != nil {
			return "", err
		}
	}
	if image.Trash == nil || image.Trash.State == ceph.TrashMoving {
		err = p.patiently(ctx, func(ctx context.Context) error { return p.rbd.TrashImage(ctx, image) })
		if err != nil {
			return "", err
		}
	}
	if j.node.journal != nil {
		err = p.patiently(ctx, func(ctx context.Context) error { return p.rbd.RemoveJournal(ctx, image.Pool, *j.node.journal) })
		if err != nil {
			return "", err
		}
	}
	return p.removeTrash(ctx, j)
}

// unused: a run over thousands of images takes its time, and a move to the trash succeeds under
// those who have an image open.
func (p *part) unused(ctx context.Context, image ceph.RBDImage) error {
	uses, err := p.rbd.ImageUsers(ctx, image.Pool, image.Namespace, []string{image.ID})
	if err != nil {
		return err
	}
	if use := uses[image.ID]; len(use.Clients) > 0 {
		return fmt.Errorf("it was opened meanwhile: %w", &ceph.CommandError{
			Command: "watchers", Errno: -int(syscall.EBUSY), Status: "open at " + strings.Join(use.Clients, ", ")})
	}
	return nil
}

func (p *part) removeTrash(ctx context.Context, j *job) (note string, err error) {
	image := j.node.image
	// In a full pool, the mgr cannot even note what it is told, and nothing else after it.
	full := cmp.Or(p.plan.full[image.PoolID], p.plan.full[image.DataPool])
	if j.node.waitsFor != "" && full != "" {
		return "", fmt.Errorf("it is in the trash, but Ceph's mgr cannot be told to remove it after its clone %s: pool %q is full; run again once it has room", j.node.waitsFor, full)
	}
	if j.node.waitsFor != "" {
		err := p.patiently(ctx, func(ctx context.Context) error { return p.rbd.QueueTrashRemoval(ctx, image) })
		return fmt.Sprintf("in the trash until its clone %s goes; Ceph's mgr removes it then", j.node.waitsFor), err
	}
	if image.Objects() > longRemoval && full == "" {
		err := p.patiently(ctx, func(ctx context.Context) error { return p.rbd.QueueTrashRemoval(ctx, image) })
		if err != nil {
			return "", err
		}
		return "", p.untilGone(ctx, image)
	}
	err = p.retry(ctx, removalLimit(image), func(ctx context.Context) error { return p.rbd.RemoveTrash(ctx, image) })
	if err != nil {
		return "", err
	}
	return "", p.patiently(ctx, func(ctx context.Context) error {
		gone, err := p.rbd.ImageGone(ctx, image)
		if err == nil && !gone {
			return errors.New("it was removed, but is still there")
		}
		return err
	})
}

func removalLimit(image ceph.RBDImage) time.Duration {
	return shortRemoval + time.Duration(image.Objects())*perObject
}

// untilGone waits for the mgr.
func (p *part) untilGone(ctx context.Context, image ceph.RBDImage) error {
	deadline := p.clock.Now().Add(removalLimit(image))
	for {
		var gone bool
		err := p.patiently(ctx, func(ctx context.Context) (err error) {
			gone, err = p.rbd.ImageGone(ctx, image)
			return err
		})
		if err != nil || gone {
			return err
		}
		if p.clock.Now().After(deadline) {
			return fmt.Errorf("the mgr has not removed it yet (`ceph rbd task list` shows its queue): %w", ceph.ErrTimeout)
		}
		if err := teardown.Wait(ctx, p.clock, pollPause); err != nil {
			return err
		}
	}
}

// patiently calls what takes Ceph a moment.
func (p *part) patiently(ctx context.Context, call func(context.Context) error) error {
	return p.retry(ctx, teardown.CallLimit, call)
}

// retry tries again while an image is busy, or a daemon of Ceph's away or just started.
func (p *part) retry(ctx context.Context, limit time.Duration, call func(context.Context) error) error {
	deadline := p.clock.Now().Add(busyPatience)
	for {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			return call(ctx)
		}()
		passing := ceph.Errno(err) == syscall.EBUSY || errors.Is(err, ceph.ErrTimeout) || errors.Is(err, ceph.ErrNotLoaded)
		if err == nil || !passing || p.clock.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		if teardown.Wait(ctx, p.clock, busyPause) != nil {
			return err
		}
	}
}

// job is one thing to be removed.
type job struct {
	decision teardown.Decision
	node     *imageNode
	group    *groupNode
	// snapshots is a group of them.
	snapshots *snapshotGroup
	note      string
	err       error
}

// jobs are all of them, in the order of work.
type jobs struct {
	temporary, groups []*job
	levels            [][]*job
	snapshots         []*job
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
		if d.Kind == teardown.Journal {
			j.snapshots = p.plan.snapshotGroup(d)
			if j.snapshots == nil || j.snapshots.decision.Verdict != teardown.Remove {
				tell(teardown.Outcome{Decision: d, Err: teardown.ErrChanged})
				continue
			}
			out.snapshots = append(out.snapshots, j)
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
