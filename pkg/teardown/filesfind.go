package teardown

import (
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// Find reads all filesystems and decides.
func (f *files) Find(ctx context.Context, _ []Decision) (Findings, error) {
	out := Findings{Tags: map[string]int{}}
	filesystems, err := Limited(ctx, f.Ceph.FileSystems)
	if err != nil {
		return out, err
	}
	for _, name := range f.Filesystems {
		if !slices.ContainsFunc(filesystems, func(fs ceph.FileSystem) bool { return fs.Name == name }) {
			return out, fmt.Errorf("--filesystem=%s: there is no such filesystem", name)
		}
	}
	if len(f.Filesystems) > 0 {
		filesystems = slices.DeleteFunc(filesystems, func(fs ceph.FileSystem) bool { return !slices.Contains(f.Filesystems, fs.Name) })
	}
	if len(filesystems) == 0 {
		return out, nil
	}
	pools, err := Limited(ctx, f.Ceph.Pools)
	if err != nil {
		return out, err
	}
	if f.manager == nil {
		if f.manager, err = Limited(ctx, f.Manager); err != nil {
			return out, err
		}
	}
	f.plans, f.found = nil, f.Clock.Now()
	for _, fs := range filesystems {
		in, err := f.gather(ctx, fs, pools)
		if err != nil {
			return out, err
		}
		plan := decideFiles(f.Options, in)
		f.plans = append(f.plans, plan)
		plan.addTo(&out)
	}
	slices.Sort(out.Alive)
	return out, nil
}

// addTo hands the decisions over. Where nobody can see who has a filesystem mounted, it may be
// anybody.
func (p *filesPlan) addTo(out *Findings) {
	out.Decisions = append(out.Decisions, p.decisions...)
	out.Alive = append(out.Alive, p.alive...)
	for tag, n := range p.tags {
		out.Tags[tag] += n
	}
	removes := slices.ContainsFunc(p.decisions, func(d Decision) bool { return d.Verdict == Remove && d.Kind == Subvolume })
	if removes && p.inventory.blind != "" {
		out.Alive = append(out.Alive, fmt.Sprintf("who has filesystem %s mounted cannot be seen with these credentials: %s", p.inventory.filesystem.Name, p.inventory.blind))
	}
}
