// Package subvolumes finds and removes what a cluster left in CephFS: subvolumes, their snapshots, shallow volumes,
// and what ceph-csi keeps about them. Of each filesystem it reads an inventory, of which whose they are is decided
// in pure functions; what shows or holds something else goes before it.
package subvolumes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// Ceph is what is needed of a Ceph cluster to look after its filesystems.
type Ceph interface {
	FileSystems(ctx context.Context) ([]ceph.FileSystem, error)
	Pools(ctx context.Context) ([]ceph.Pool, error)
	Journals(ctx context.Context, pool string, namespaces ...string) ([]ceph.JournalPiece, error)
	RemoveJournal(ctx context.Context, pool string, j ceph.Journal) error
	References(ctx context.Context, pool, namespace, handle string) (ceph.RefTracker, error)
	DropReferences(ctx context.Context, pool, namespace, handle string, volumes []string, all bool) error
	teardown.Recorder
}

// Manager is the mgr's volumes module. ErrNotFound, ErrNotReady and ErrNotEmpty tell its
// refusals apart.
type Manager interface {
	SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error)
	Subvolumes(ctx context.Context, filesystem, group string) ([]string, error)
	Subvolume(ctx context.Context, place ceph.SubvolumePlace) (ceph.Subvolume, error)
	SubvolumeMetadata(ctx context.Context, place ceph.SubvolumePlace) (map[string]string, error)
	SubvolumeSnapshots(ctx context.Context, place ceph.SubvolumePlace) ([]string, error)
	SnapshotMetadata(ctx context.Context, place ceph.SubvolumePlace, snapshot string) (map[string]string, error)
	SnapshotCopied(ctx context.Context, place ceph.SubvolumePlace, snapshot string) (bool, error)
	RemoveSubvolume(ctx context.Context, place ceph.SubvolumePlace, retain bool) error
	RemoveSubvolumeSnapshot(ctx context.Context, place ceph.SubvolumePlace, snapshot string) error
	CancelClone(ctx context.Context, place ceph.SubvolumePlace) error
	Close()
}

// Mount is a client of a filesystem. It reads what the mgr keeps of subvolumes where the mgr
// reads it too, many times faster.
type Mount interface {
	SubvolumeMeta(ctx context.Context, group, name string) (ceph.SubvolumeMeta, error)
	SubvolumeSnapshots(ctx context.Context, group, name string) ([]string, error)
	SubvolumeFolder(ctx context.Context, folder string) (ceph.SubvolumeFolder, error)
	Clients(ctx context.Context) ([]ceph.FileClient, error)
	Close()
}

// Config is what the part of CephFS needs.
type Config struct {
	teardown.Options
	Ceph Ceph
	// Manager connects to the mgr for many commands.
	Manager func(ctx context.Context) (Manager, error)
	// Mount mounts a filesystem.
	Mount func(ctx context.Context, filesystem string) (Mount, error)
	Clock clock.Clock
	// Tell is told what is waited for; nil means nobody.
	Tell func(sentence string)
}

const (
	// listingLimit bounds the reading of all journals of a filesystem.
	listingLimit = 30 * time.Minute
	// managerWorkers is how many commands the mgr gets at a time: more made it slower.
	managerWorkers = 8
	// loadingPatience is how long a mgr that was started may take to load its modules.
	loadingPatience = 2 * time.Minute
	loadingPause    = 2 * time.Second
)

// part is that of CephFS.
type part struct {
	Config
	manager Manager
	// plans are the decisions on each filesystem, from found on.
	plans []plan
	found time.Time
}

// New returns the part of CephFS: subvolumes, their snapshots, shallow volumes and what
// ceph-csi keeps about them, in all filesystems.
func New(c Config) teardown.Part { return &part{Config: c} }

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

// inventory is what was read of one filesystem.
type inventory struct {
	filesystem ceph.FileSystem
	// pool is the metadata pool, in which journals and records lie.
	pool       string
	subvolumes []subvolume
	journals   []ceph.Journal
	references []references
	// recorded is what interrupted runs had begun.
	recorded record
	// clients have the filesystem mounted; blind says why they are not known.
	clients []ceph.FileClient
	blind   string
}

// subvolume is one of a filesystem, of whomever.
type subvolume struct {
	place ceph.SubvolumePlace
	// state is complete, retained, or else that of a clone in flight.
	state     string
	size      uint64
	created   time.Time
	metadata  map[string]string
	snapshots []snapshot
	// unread says why its tags, or those of its snapshots, are not known.
	unread string
}

// snapshot is one of a subvolume.
type snapshot struct {
	name     string
	metadata map[string]string
	// copied says that clones are being made of it.
	copied  bool
	created time.Time
	unread  string
}

// references are who needs a snapshot, as ceph-csi counts them.
type references struct {
	namespace, handle string
	// uuid is the snapshot's.
	uuid    string
	tracker ceph.RefTracker
	// unread says why they are not known.
	unread string
}

// inFlight is a clone that is still being made, or whose making was given up.
func (s subvolume) inFlight() bool {
	return s.state != ceph.SubvolumeComplete && s.state != ceph.SubvolumeRetained
}
