//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// SubvolumeGroups lists the groups of a filesystem; subvolumes without a group are in none.
func (m *Manager) SubvolumeGroups(ctx context.Context, filesystem string) ([]string, error) {
	output, err := m.ask(ctx, "fs subvolumegroup ls", arguments{"vol_name": filesystem})
	if err != nil {
		return nil, fmt.Errorf("listing the subvolume groups of filesystem %q: %w", filesystem, err)
	}
	return ceph.ParseSubvolumeGroups(output)
}

// Subvolumes lists the subvolumes of a group, "" for those without one: retained ones and clones
// in flight, too.
func (m *Manager) Subvolumes(ctx context.Context, filesystem, group string) ([]string, error) {
	output, err := m.ask(ctx, "fs subvolume ls", subvolumeArguments(ceph.SubvolumePlace{Filesystem: filesystem, Group: group}))
	if err != nil {
		return nil, fmt.Errorf("listing the subvolumes of group %q of filesystem %q: %w", group, filesystem, err)
	}
	return ceph.ParseNames(output)
}

// Subvolume tells type, state and size of a subvolume. Of a clone in flight, type and state are
// asked of the clone.
func (m *Manager) Subvolume(ctx context.Context, place ceph.SubvolumePlace) (ceph.Subvolume, error) {
	output, err := m.ask(ctx, "fs subvolume info", subvolumeArguments(place))
	if err != nil {
		return ceph.Subvolume{}, fmt.Errorf("reading subvolume %s: %w", place, err)
	}
	return ceph.ParseSubvolumeInfo(output)
}

// SubvolumeMetadata are the keys that clients left with a subvolume. It fails with ErrNotFound
// for a retained subvolume, and with ErrNotReady for a clone in flight.
func (m *Manager) SubvolumeMetadata(ctx context.Context, place ceph.SubvolumePlace) (map[string]string, error) {
	output, err := m.ask(ctx, "fs subvolume metadata ls", subvolumeArguments(place))
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of subvolume %s: %w", place, err)
	}
	return ceph.ParseSubvolumeMetadata(output)
}

// SubvolumeSnapshots lists the snapshots of a subvolume, also of a retained one.
func (m *Manager) SubvolumeSnapshots(ctx context.Context, place ceph.SubvolumePlace) ([]string, error) {
	output, err := m.ask(ctx, "fs subvolume snapshot ls", subvolumeArguments(place))
	if err != nil {
		return nil, fmt.Errorf("listing the snapshots of subvolume %s: %w", place, err)
	}
	return ceph.ParseNames(output)
}

// SnapshotMetadata are the keys that clients left with a snapshot. It fails with ErrNotFound for
// snapshots of a retained subvolume.
func (m *Manager) SnapshotMetadata(ctx context.Context, place ceph.SubvolumePlace, snapshot string) (map[string]string, error) {
	output, err := m.ask(ctx, "fs subvolume snapshot metadata ls", subvolumeArguments(place.At(snapshot)))
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of snapshot %s@%s: %w", place, snapshot, err)
	}
	return ceph.ParseSubvolumeMetadata(output)
}

// SnapshotCopied says whether clones are being made of a snapshot.
func (m *Manager) SnapshotCopied(ctx context.Context, place ceph.SubvolumePlace, snapshot string) (bool, error) {
	output, err := m.ask(ctx, "fs subvolume snapshot info", subvolumeArguments(place.At(snapshot)))
	if err != nil {
		return false, fmt.Errorf("reading snapshot %s@%s: %w", place, snapshot, err)
	}
	return ceph.ParsePendingClones(output)
}

// RemoveSubvolume removes a subvolume and its data, which the mgr purges later. One that is
// missing is no error. With snapshots it fails with ErrNotEmpty, unless retain keeps them.
func (m *Manager) RemoveSubvolume(ctx context.Context, place ceph.SubvolumePlace, retain bool) error {
	args := subvolumeArguments(place)
	args["force"] = true
	if retain {
		args["retain_snapshots"] = true
	}
	if _, err := m.ask(ctx, "fs subvolume rm", args); err != nil {
		return fmt.Errorf("removing subvolume %s: %w", place, err)
	}
	return nil
}

// RemoveSubvolumeSnapshot removes a snapshot; one that is missing is no error. While clones are
// made of it, it fails with ErrNotReady.
func (m *Manager) RemoveSubvolumeSnapshot(ctx context.Context, place ceph.SubvolumePlace, snapshot string) error {
	args := subvolumeArguments(place.At(snapshot))
	args["force"] = true
	_, err := m.ask(ctx, "fs subvolume snapshot rm", args)
	if err != nil && !errors.Is(err, ceph.ErrNotFound) {
		return fmt.Errorf("removing snapshot %s@%s: %w", place, snapshot, err)
	}
	return nil
}

// CancelClone stops the making of a clone, which stays as a subvolume to be removed.
func (m *Manager) CancelClone(ctx context.Context, place ceph.SubvolumePlace) error {
	args := arguments{"vol_name": place.Filesystem, "clone_name": place.Name}
	if place.Group != "" {
		args["group_name"] = place.Group
	}
	if _, err := m.ask(ctx, "fs clone cancel", args); err != nil {
		return fmt.Errorf("canceling clone %s: %w", place, err)
	}
	return nil
}
