package subvolumes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

func (r *removal) removeShallow(ctx context.Context, d teardown.Decision) (string, error) {
	if j, found := r.plan.journal(ceph.JournalVolume, d.UUID); found {
		uuid, _ := r.plan.backing(j)
		if s, _, found := r.plan.snapshotOf(uuid); found {
			if err := r.unmounted(ctx, s.place); err != nil {
				return "", err
			}
		}
	}
	for _, refs := range r.plan.inventory.references {
		if _, shows := refs.tracker.Masked[d.Name]; !shows {
			continue
		}
		err := r.again(ctx, func(ctx context.Context) error {
			return r.Ceph.DropReferences(ctx, r.plan.inventory.pool, refs.namespace, refs.handle, []string{d.Name}, false)
		})
		if err != nil {
			return "", err
		}
	}
	return "", r.removeJournal(ctx, ceph.JournalVolume, d.UUID)
}

func (r *removal) removeSnapshot(ctx context.Context, d teardown.Decision) (string, error) {
	for _, j := range r.plan.inventory.journals {
		if backing, ok := r.plan.backing(j); ok && backing == d.UUID && r.failed[volumeKey{uuid: j.UUID}] {
			return "", fmt.Errorf("shallow volume %s, which shows it, could not be removed", j.Image)
		}
	}
	place := ceph.SubvolumePlace{Filesystem: d.Place.Filesystem, Group: d.Place.Group, Name: d.Place.Subvolume}
	err := r.again(ctx, func(ctx context.Context) error { return r.manager.RemoveSubvolumeSnapshot(ctx, place, d.Name) })
	if err == nil {
		err = r.dropReferences(ctx, d.UUID)
	}
	if err == nil {
		err = r.removeJournal(ctx, ceph.JournalSnapshot, d.UUID)
	}
	return "", err
}

// dropReferences removes who needed a snapshot that is gone, unless somebody still seems to.
func (r *removal) dropReferences(ctx context.Context, uuid string) error {
	for _, refs := range r.plan.inventory.references {
		if refs.uuid != uuid {
			continue
		}
		err := r.again(ctx, func(ctx context.Context) error {
			return r.Ceph.DropReferences(ctx, r.plan.inventory.pool, refs.namespace, refs.handle, nil, true)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *removal) removeSubvolume(ctx context.Context, d teardown.Decision) (string, error) {
	place := ceph.SubvolumePlace{Filesystem: d.Place.Filesystem, Group: d.Place.Group, Name: d.Name}
	if name := r.failedSnapshot(place); name != "" {
		return "", fmt.Errorf("its snapshot %s could not be removed", name)
	}
	if err := r.unmounted(ctx, place); err != nil {
		return "", err
	}
	remove := func(retain bool) error {
		return r.again(ctx, func(ctx context.Context) error { return r.manager.RemoveSubvolume(ctx, place, retain) })
	}
	note := ""
	err := remove(false)
	if errors.Is(err, ceph.ErrNotReady) {
		// A clone in flight.
		if err = r.again(ctx, func(ctx context.Context) error { return r.manager.CancelClone(ctx, place) }); err == nil {
			err = remove(false)
		}
	}
	if errors.Is(err, ceph.ErrNotEmpty) {
		note, err = "its data is gone, but it is kept for foreign snapshots", remove(true)
	}
	if err == nil {
		err = r.removeJournal(ctx, ceph.JournalVolume, d.UUID)
	}
	return note, err
}

// failedSnapshot names a snapshot of ours that is still there.
func (r *removal) failedSnapshot(place ceph.SubvolumePlace) string {
	for _, s := range r.plan.inventory.subvolumes {
		for _, snap := range s.snapshots {
			if name, _ := ceph.ParseCSIName(snap.name); s.place == place && r.failed[volumeKey{true, name.UUID}] {
				return snap.name
			}
		}
	}
	return ""
}

// removeRest removes a journal, or references, whose volume or snapshot is gone.
func (r *removal) removeRest(ctx context.Context, d teardown.Decision) (string, error) {
	name, ok := ceph.ParseJournalName(d.Name)
	if !ok {
		return "", fmt.Errorf("%q is no journal", d.Name)
	}
	if name.Kind == ceph.JournalReferences {
		return "", r.dropReferences(ctx, d.UUID)
	}
	if j, found := r.plan.journal(name.Kind, name.UUID); found {
		for _, it := range r.plan.members(j) {
			if r.failed[it] {
				return "", fmt.Errorf("its snapshot %s could not be removed", it.uuid)
			}
		}
	}
	if name.Kind == ceph.JournalSnapshot {
		if err := r.dropReferences(ctx, name.UUID); err != nil {
			return "", err
		}
	}
	return "", r.removeJournal(ctx, name.Kind, name.UUID)
}

func (r *removal) removeJournal(ctx context.Context, kind ceph.JournalKind, uuid string) error {
	journal, found := r.plan.journal(kind, uuid)
	if !found {
		return nil
	}
	return r.again(ctx, func(ctx context.Context) error {
		return r.Ceph.RemoveJournal(ctx, r.plan.inventory.pool, journal)
	})
}

// A daemon that restarts gives errors for some seconds.
const (
	maxTries = 6
	tryPause = 5 * time.Second
)

// again repeats a call whose failure may be one of the moment.
func (r *removal) again(ctx context.Context, call func(context.Context) error) error {
	for try := 1; ; try++ {
		err := teardown.Call(ctx, call)
		final := err == nil || try == maxTries || ctx.Err() != nil
		for _, answer := range []error{ceph.ErrDenied, ceph.ErrNotFound, ceph.ErrNotReady, ceph.ErrNotEmpty, ceph.ErrClosed} {
			final = final || errors.Is(err, answer)
		}
		if final || teardown.Wait(ctx, r.Clock, tryPause) != nil {
			return err
		}
	}
}
