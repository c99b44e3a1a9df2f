package subvolumes

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// gather reads one filesystem. It changes nothing.
func (p *part) gather(ctx context.Context, fs ceph.FileSystem, pools []ceph.Pool) (inventory, error) {
	in := inventory{filesystem: fs}
	i := slices.IndexFunc(pools, func(p ceph.Pool) bool { return p.ID == fs.MetadataPool })
	if i < 0 {
		return in, fmt.Errorf("filesystem %q: Ceph does not list its metadata pool %d", fs.Name, fs.MetadataPool)
	}
	in.pool = pools[i].Name
	if !fs.Active {
		return in, fmt.Errorf("filesystem %q has no active MDS for every rank, so nobody can look into it; start one, or name the others with --filesystem", fs.Name)
	}
	if err := p.gatherJournals(ctx, &in); err != nil {
		return in, err
	}
	var err error
	if in.recorded, err = readRecords(ctx, p.Ceph, in.pool, p.InfraID); err != nil {
		return in, err
	}
	mount, mountErr := p.mount(ctx, fs.Name)
	if mountErr == nil {
		defer mount.Close()
	}
	err = p.loaded(ctx, func(ctx context.Context) error { return p.gatherSubvolumes(ctx, &in, mount, mountErr) })
	if err != nil {
		return in, err
	}
	in.clients, in.blind = clientsOf(ctx, mount, mountErr)
	return in, nil
}

// loaded repeats what failed because the mgr has just been started.
func (p *part) loaded(ctx context.Context, work func(context.Context) error) error {
	begin := p.Clock.Now()
	for told := false; ; told = true {
		err := work(ctx)
		if !errors.Is(err, ceph.ErrNotLoaded) {
			return err
		}
		if p.Clock.Since(begin) > loadingPatience {
			return fmt.Errorf("the mgr has not loaded its module volumes within %s (ceph mgr module enable volumes): %w", loadingPatience, err)
		}
		if !told && p.Tell != nil {
			p.Tell(fmt.Sprintf("waiting up to %s for the mgr to load its module volumes", loadingPatience))
		}
		if err := teardown.Wait(ctx, p.Clock, loadingPause); err != nil {
			return err
		}
	}
}

func (p *part) mount(ctx context.Context, filesystem string) (Mount, error) {
	return teardown.Limited(ctx, func(ctx context.Context) (Mount, error) { return p.Mount(ctx, filesystem) })
}

func clientsOf(ctx context.Context, mount Mount, err error) ([]ceph.FileClient, string) {
	if err != nil {
		return nil, err.Error()
	}
	clients, err := teardown.Limited(ctx, mount.Clients)
	if err != nil {
		return nil, err.Error()
	}
	return clients, ""
}

func (p *part) gatherJournals(ctx context.Context, in *inventory) error {
	ctx, cancel := context.WithTimeout(ctx, listingLimit)
	defer cancel()
	pieces, err := p.Ceph.Journals(ctx, in.pool, p.JournalNamespaces...)
	if err != nil {
		return err
	}
	in.journals = ceph.JoinJournals(pieces)
	for _, piece := range pieces {
		name, ok := ceph.ParseJournalName(piece.Object)
		if !ok || name.Kind != ceph.JournalReferences {
			continue
		}
		r := references{namespace: piece.Namespace, handle: name.Handle}
		handle, err := ceph.ParseVolumeHandle(name.Handle)
		if err == nil {
			r.uuid = handle.UUID
			r.tracker, err = p.Ceph.References(ctx, in.pool, r.namespace, r.handle)
		}
		if errors.Is(err, ceph.ErrNotFound) {
			continue
		}
		if errors.Is(err, ceph.ErrTimeout) {
			return err
		}
		if err != nil {
			r.unread = err.Error()
		}
		in.references = append(in.references, r)
	}
	return nil
}

// gatherSubvolumes reads all subvolumes, some at a time.
func (p *part) gatherSubvolumes(ctx context.Context, in *inventory, mount Mount, mountErr error) error {
	groups, err := teardown.Limited(ctx, func(ctx context.Context) ([]string, error) {
		return p.manager.SubvolumeGroups(ctx, in.filesystem.Name)
	})
	if err != nil {
		return err
	}
	var places []ceph.SubvolumePlace
	for _, group := range append(groups, "") {
		names, err := teardown.Limited(ctx, func(ctx context.Context) ([]string, error) {
			return p.manager.Subvolumes(ctx, in.filesystem.Name, group)
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			places = append(places, ceph.SubvolumePlace{Filesystem: in.filesystem.Name, Group: group, Name: name})
		}
	}
	look := looker{manager: p.manager, mount: mount, mountErr: mountErr, infraID: p.InfraID}
	found := make([]*subvolume, len(places))
	err = p.hurried(ctx, in.filesystem.Name, p.Workers(), len(places), func(ctx context.Context, i int) error {
		s, err := look.at(ctx, places[i])
		if errors.Is(err, errVanished) {
			return nil
		}
		found[i] = &s
		return err
	})
	in.subvolumes = nil
	for _, s := range found {
		if s != nil {
			in.subvolumes = append(in.subvolumes, *s)
		}
	}
	return err
}
