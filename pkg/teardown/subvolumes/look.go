package subvolumes

import (
	"context"
	"errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// errVanished says that a subvolume went while it was looked at.
var errVanished = errors.New("the subvolume is gone")

// looker reads single subvolumes.
type looker struct {
	manager  Manager
	mount    Mount
	mountErr error
	infraID  string
}

// at reads a subvolume with its snapshots, from the filesystem or, where that does not tell, from
// the mgr.
func (l looker) at(ctx context.Context, place ceph.SubvolumePlace) (subvolume, error) {
	s, err := l.read(ctx, place)
	if err == nil || errors.Is(err, ceph.ErrTimeout) {
		return s, err
	}
	return l.ask(ctx, place)
}

// ask asks the mgr. Sizes and clones in flight are only asked where the infra ID's tag is: each
// question takes the mgr milliseconds.
func (l looker) ask(ctx context.Context, place ceph.SubvolumePlace) (subvolume, error) {
	s := subvolume{place: place, state: ceph.SubvolumeComplete}
	var err error
	s.metadata, err = teardown.Limited(ctx, func(ctx context.Context) (map[string]string, error) {
		return l.manager.SubvolumeMetadata(ctx, place)
	})
	switch {
	case errors.Is(err, ceph.ErrNotReady):
		s.state = "in flight"
		return s, nil
	case errors.Is(err, ceph.ErrNotFound):
		return l.retained(ctx, place)
	case refused(err):
		// One broken subvolume, of whomever, does not keep the others.
		s.unread = err.Error()
		return s, nil
	case err != nil:
		return s, err
	}
	if ceph.Owner(s.metadata) == l.infraID {
		info, err := l.info(ctx, place)
		if err != nil {
			return s, err
		}
		s.size, s.created = uint64(max(info.Size, 0)), info.Created
	}
	names, err := l.names(ctx, place)
	if err != nil {
		return s, err
	}
	for _, name := range names {
		snapshot, err := l.snapshot(ctx, place, name)
		if err != nil {
			return s, err
		}
		s.snapshots = append(s.snapshots, snapshot)
	}
	return s, nil
}

// refused says that the mgr answered, and that it is not about these credentials.
func refused(err error) bool {
	var answer *ceph.CommandError
	return errors.As(err, &answer) && !unanswered(err) && !errors.Is(err, ceph.ErrDenied)
}

// unanswered says that the mgr has told nothing of what it was asked.
func unanswered(err error) bool {
	return errors.Is(err, ceph.ErrTimeout) || errors.Is(err, ceph.ErrNotLoaded)
}

func (l looker) info(ctx context.Context, place ceph.SubvolumePlace) (ceph.Subvolume, error) {
	info, err := teardown.Limited(ctx, func(ctx context.Context) (ceph.Subvolume, error) { return l.manager.Subvolume(ctx, place) })
	if errors.Is(err, ceph.ErrNotFound) {
		err = errVanished
	}
	return info, err
}

func (l looker) names(ctx context.Context, place ceph.SubvolumePlace) ([]string, error) {
	names, err := teardown.Limited(ctx, func(ctx context.Context) ([]string, error) { return l.manager.SubvolumeSnapshots(ctx, place) })
	if errors.Is(err, ceph.ErrNotFound) {
		err = errVanished
	}
	return names, err
}

func (l looker) snapshot(ctx context.Context, place ceph.SubvolumePlace, name string) (snapshot, error) {
	s := snapshot{name: name}
	var err error
	s.metadata, err = teardown.Limited(ctx, func(ctx context.Context) (map[string]string, error) {
		return l.manager.SnapshotMetadata(ctx, place, name)
	})
	if err == nil && ceph.Owner(s.metadata) == l.infraID {
		s.copied, err = l.copied(ctx, place, name)
	}
	if unanswered(err) {
		return s, err
	}
	if err != nil {
		s.unread = err.Error()
	}
	return s, nil
}

func (l looker) copied(ctx context.Context, place ceph.SubvolumePlace, name string) (bool, error) {
	return teardown.Limited(ctx, func(ctx context.Context) (bool, error) { return l.manager.SnapshotCopied(ctx, place, name) })
}

// retained reads a subvolume that is kept for its snapshots: their tags are in its file alone.
func (l looker) retained(ctx context.Context, place ceph.SubvolumePlace) (subvolume, error) {
	s := subvolume{place: place}
	info, err := l.info(ctx, place)
	if err != nil {
		return s, err
	}
	s.state = info.State
	if s.state != ceph.SubvolumeRetained {
		s.unread = "the mgr does not find its metadata"
		return s, nil
	}
	names, err := l.names(ctx, place)
	if err != nil {
		return s, err
	}
	var meta ceph.SubvolumeMeta
	if err = l.mountErr; err == nil {
		meta, err = teardown.Limited(ctx, func(ctx context.Context) (ceph.SubvolumeMeta, error) {
			return l.mount.SubvolumeMeta(ctx, place.Group, place.Name)
		})
	}
	if errors.Is(err, ceph.ErrTimeout) {
		return s, err
	}
	if err != nil {
		s.unread = err.Error()
	}
	for _, name := range names {
		snapshot := snapshot{name: name, metadata: meta.Snapshots[name], unread: s.unread}
		if ceph.Owner(snapshot.metadata) == l.infraID {
			if snapshot.copied, err = l.copied(ctx, place, name); err != nil {
				return s, err
			}
		}
		s.snapshots = append(s.snapshots, snapshot)
	}
	return s, nil
}
