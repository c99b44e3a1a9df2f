package subvolumes

import (
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// Find reads all filesystems and decides.
func (p *part) Find(ctx context.Context, _ []teardown.Decision) (teardown.Findings, error) {
	out := teardown.Findings{Tags: map[string]int{}}
	filesystems, err := teardown.Limited(ctx, p.Ceph.FileSystems)
	if err != nil {
		return out, err
	}
	for _, name := range p.Filesystems {
		if !slices.ContainsFunc(filesystems, func(fs ceph.FileSystem) bool { return fs.Name == name }) {
			return out, fmt.Errorf("--filesystem=%s: there is no such filesystem", name)
		}
	}
	if len(p.Filesystems) > 0 {
		filesystems = slices.DeleteFunc(filesystems, func(fs ceph.FileSystem) bool { return !slices.Contains(p.Filesystems, fs.Name) })
	}
	if len(filesystems) == 0 {
		return out, nil
	}
	pools, err := teardown.Limited(ctx, p.Ceph.Pools)
	if err != nil {
		return out, err
	}
	if p.manager == nil {
		if p.manager, err = teardown.Limited(ctx, p.Manager); err != nil {
			return out, err
		}
	}
	p.plans, p.found = nil, p.Clock.Now()
	for _, fs := range filesystems {
		in, err := p.gather(ctx, fs, pools)
		if err != nil {
			return out, err
		}
		plan := decide(p.Options, in)
		p.plans = append(p.plans, plan)
		plan.addTo(&out)
	}
	slices.Sort(out.Alive)
	return out, nil
}

// addTo hands the decisions over. Where nobody can see who has a filesystem mounted, it may be
// anybody.
func (p *plan) addTo(out *teardown.Findings) {
	out.Decisions = append(out.Decisions, p.decisions...)
	out.Alive = append(out.Alive, p.alive...)
	for tag, n := range p.tags {
		out.Tags[tag] += n
	}
	removes := slices.ContainsFunc(p.decisions, func(d teardown.Decision) bool { return d.Verdict == teardown.Remove && d.Kind == teardown.Subvolume })
	if removes && p.inventory.blind != "" {
		out.Alive = append(out.Alive, fmt.Sprintf("who has filesystem %s mounted cannot be seen with these credentials: %s", p.inventory.filesystem.Name, p.inventory.blind))
	}
}
