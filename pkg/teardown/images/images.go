// Package images finds and removes what a cluster left in RBD: images, those in the trash too, their groups, and
// ceph-csi's journals of them. It gathers facts of all images of all pools, of which whose they are is decided in
// pure functions; clones go before what they were made from.
package images

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// reader reads RBD. Nothing is opened or changed by it.
type reader interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	// ImageNamespaces lists the RADOS namespaces of a pool, its own, "", included.
	ImageNamespaces(ctx context.Context, pool string) ([]string, error)
	// Images reads all images of a RADOS namespace, those in the trash too.
	Images(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDImage, error)
	ImageGroups(ctx context.Context, pool ceph.Pool, namespace string) ([]ceph.RBDGroup, error)
	// ImageJournals reads the journals' usual directories and the named objects from all these
	// RADOS namespaces of a pool. Journals reads all journals of a pool, wherever they are, for
	// which it lists the whole pool.
	Journals(ctx context.Context, pool string, namespaces ...string) ([]ceph.JournalPiece, error)
	ImageJournals(ctx context.Context, pool string, namespaces []string, names []ceph.JournalName) ([]ceph.JournalPiece, error)
}

// remover changes images. What is gone already is no error.
type remover interface {
	SetImageMetadata(ctx context.Context, image ceph.RBDImage, key, value string) error
	RemoveImageSnapshots(ctx context.Context, image ceph.RBDImage, snapshots []ceph.ImageSnapshot) error
	TrashImage(ctx context.Context, image ceph.RBDImage) error
	// RemoveTrash removes an image from the trash and returns when it is gone.
	RemoveTrash(ctx context.Context, image ceph.RBDImage) error
	// QueueTrashRemoval has the mgr do that.
	QueueTrashRemoval(ctx context.Context, image ceph.RBDImage) error
}

// company looks after what images have around them.
type company interface {
	// ImageUsers tells who uses images of one RADOS namespace, by their IDs; those that nobody uses
	// are left out.
	ImageUsers(ctx context.Context, pool, namespace string, ids []string) (map[string]ceph.ImageUse, error)
	// ImageGone says that neither directory, trash nor header knows an image any more.
	ImageGone(ctx context.Context, image ceph.RBDImage) (bool, error)
	RemoveImageGroup(ctx context.Context, group ceph.RBDGroup, members []ceph.RBDImage) error
	// RemoveJournal removes a journal's objects, then its keys, from wherever they were found.
	RemoveJournal(ctx context.Context, pool string, journal ceph.Journal) error
}

// RBD is all that is needed of a connection.
type RBD interface {
	reader
	remover
	company
	teardown.Recorder
}

// part is that of RBD.
type part struct {
	options teardown.Options
	rbd     RBD
	clock   clock.Clock

	// found is when plan was made.
	found time.Time
	plan  plan
	// own is what this run has written its record as, by pool.
	own map[string]string
}

// New returns the part of RBD: images with their snapshots, clones and groups, and what ceph-csi keeps about
// them, in all pools.
func New(o teardown.Options, rbd RBD, c clock.Clock) teardown.Part {
	return &part{options: o, rbd: rbd, clock: c}
}

// Find reads all pools that may hold images of the cluster.
func (p *part) Find(ctx context.Context, _ []teardown.Decision) (teardown.Findings, error) {
	f, err := gather(ctx, p.rbd, p.options)
	if err != nil {
		return teardown.Findings{}, err
	}
	// Who uses an image matters for what would go; the rest is not asked.
	first := decide(p.options, f)
	if f.users, err = p.users(ctx, first.candidates()); err != nil {
		return teardown.Findings{}, err
	}
	p.found, p.plan = p.clock.Now(), decide(p.options, f)
	return p.plan.findings(p.options), nil
}

// users asks who uses images, until those that have died are dropped.
func (p *part) users(ctx context.Context, images []ceph.RBDImage) (map[ceph.ImageRef]ceph.ImageUse, error) {
	type place struct{ pool, namespace string }
	ids := map[place][]string{}
	for _, i := range images {
		at := place{i.Pool, i.Namespace}
		ids[at] = append(ids[at], i.ID)
	}
	var out map[ceph.ImageRef]ceph.ImageUse
	err := teardown.AwaitDead(ctx, p.clock, func() (silent bool, err error) {
		uses := map[place]map[string]ceph.ImageUse{}
		for at, there := range ids {
			if uses[at], err = p.rbd.ImageUsers(ctx, at.pool, at.namespace, there); err != nil {
				return false, err
			}
		}
		out = map[ceph.ImageRef]ceph.ImageUse{}
		for _, i := range images {
			if use, used := uses[place{i.Pool, i.Namespace}][i.ID]; used {
				out[i.ImageRef] = use
				silent = silent || !use.Alive
			}
		}
		return silent, nil
	})
	return out, err
}

// facts is what was read of RBD.
type facts struct {
	images []ceph.RBDImage
	groups []ceph.RBDGroup
	pools  []ceph.Pool
	// journals are those of the images that carry the tag, and of all groups, by pool.
	journals map[string][]ceph.Journal
	users    map[ceph.ImageRef]ceph.ImageUse
	recorded recorded
	// full are the names of full pools, those of data too, by their IDs.
	full map[int64]string
}

const rbdApplication = "rbd"

// holdsImages says that a pool may hold images of the cluster: its application says so, or it has none, which keeps
// ceph-csi from nothing, or a claim of the cluster, or whoever names it. Erasure-coded pools hold data alone.
func holdsImages(p ceph.Pool, o teardown.Options) bool {
	ofImages := len(p.Applications) == 0 || slices.Contains(p.Applications, rbdApplication)
	claimed := pools.Marked([]ceph.Pool{p}, o.InfraID, driver.Kinds()...)
	return !p.ErasureCoded && (ofImages || len(claimed) > 0 || slices.Contains(o.Pools, p.Name))
}

// gather reads all pools that may hold images, whatever the run is limited to: clones may be
// anywhere.
func gather(ctx context.Context, from RBD, o teardown.Options) (facts, error) {
	f := facts{journals: map[string][]ceph.Journal{}, full: map[int64]string{}, recorded: recorded{images: map[ceph.ImageRef]string{}, groups: map[ceph.GroupRef]string{}, journals: map[ceph.VolumeHandle]bool{}, runs: map[string][]string{}}}
	all, err := from.Pools(ctx)
	if err != nil {
		return f, err
	}
	for _, p := range all {
		if p.Full {
			f.full[p.ID] = p.Name
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(p ceph.Pool) bool { return !holdsImages(p, o) })
	for _, name := range o.Pools {
		if !slices.ContainsFunc(all, func(p ceph.Pool) bool { return p.Name == name }) {
			return f, fmt.Errorf("there is no replicated pool %q", name)
		}
	}
	f.pools = all
	for _, pool := range all {
		if err := f.recorded.read(ctx, from, pool, o.InfraID); err != nil {
			return f, err
		}
		namespaces, err := from.ImageNamespaces(ctx, pool.Name)
		if err != nil {
			return f, err
		}
		var names []ceph.JournalName
		for _, namespace := range namespaces {
			images, err := from.Images(ctx, pool, namespace)
			if err != nil {
				return f, err
			}
			groups, err := from.ImageGroups(ctx, pool, namespace)
			if err != nil {
				return f, err
			}
			f.images, f.groups = append(f.images, images...), append(f.groups, groups...)
			names = append(names, journalNames(o.InfraID, images, groups)...)
		}
		if f.journals[pool.Name], err = readJournals(ctx, from, pool, namespaces, names, f.recorded); err != nil {
			return f, err
		}
	}
	return f, nil
}

// readJournals reads the named journals, and those of groups of snapshots, which the directory alone names. Where a
// complete one has no key in the usual directories, as with a ceph-csi that was told an --instanceid, it reads all there
// are: once the image is gone, nothing would tell whose key that is.
func readJournals(ctx context.Context, from reader, pool ceph.Pool, namespaces []string, names []ceph.JournalName, known recorded) ([]ceph.Journal, error) {
	pieces, err := from.ImageJournals(ctx, pool.Name, namespaces, names)
	if err != nil {
		return nil, err
	}
	journals := ceph.JoinJournals(pieces)
	if elsewhere(journals) || known.lacks(pool, journals) {
		if pieces, err = from.Journals(ctx, pool.Name); err != nil {
			return nil, err
		}
		return ceph.JoinJournals(pieces), nil
	}
	var groups []ceph.JournalName
	for _, j := range journals {
		if j.Kind == ceph.JournalGroup && len(j.Namespaces) == 0 {
			groups = append(groups, j.Name())
		}
	}
	if len(groups) == 0 {
		return journals, nil
	}
	objects, err := from.ImageJournals(ctx, pool.Name, namespaces, groups)
	if err != nil {
		return nil, err
	}
	for _, piece := range objects {
		if name, _ := ceph.ParseJournalName(piece.Object); !name.Directory {
			pieces = append(pieces, piece)
		}
	}
	return ceph.JoinJournals(pieces), nil
}

// elsewhere says that a key is in none of the usual directories.
func elsewhere(journals []ceph.Journal) bool {
	return slices.ContainsFunc(journals, func(j ceph.Journal) bool {
		return j.Kind != ceph.JournalGroup && j.Image != "" && len(j.Keys) == 0
	})
}

// journalNames are those that must be read to decide.
func journalNames(infraID string, images []ceph.RBDImage, groups []ceph.RBDGroup) []ceph.JournalName {
	var out []ceph.JournalName
	for _, i := range images {
		name, ok := ceph.ParseCSIName(i.Name)
		if !ok || name.Temporary || i.Metadata[ceph.TagCluster] != infraID {
			continue
		}
		out = append(out, ceph.JournalName{Kind: ceph.JournalVolume, UUID: name.UUID})
		// What has a volume's tags has a volume's journal, or none; of a snapshot of a group, which inherits them, the
		// directory has a key.
		if i.Metadata[ceph.TagPV] == "" {
			out = append(out, ceph.JournalName{Kind: ceph.JournalSnapshot, UUID: name.UUID})
		}
	}
	for _, g := range groups {
		if name, ok := ceph.ParseCSIName(g.Name); ok {
			out = append(out, ceph.JournalName{Kind: ceph.JournalGroup, UUID: name.UUID})
		}
	}
	return out
}
