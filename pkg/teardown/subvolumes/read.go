package subvolumes

import (
	"context"
	"errors"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// errAskMgr says that a subvolume's file is not one of those of which it is known what the mgr makes
// of them.
var errAskMgr = errors.New("the mgr has to be asked")

// metaVersion is that of the files since Ceph 15.2.5, beside which the snapshots are.
const metaVersion = 2

// read reads a subvolume as the mgr would tell it, from the files in which the mgr keeps it. The
// error is of no interest, unless it is a timeout: the mgr knows better.
func (l looker) read(ctx context.Context, place ceph.SubvolumePlace) (subvolume, error) {
	s := subvolume{place: place}
	if l.mountErr != nil {
		return s, l.mountErr
	}
	meta, err := teardown.Limited(ctx, func(ctx context.Context) (ceph.SubvolumeMeta, error) {
		return l.mount.SubvolumeMeta(ctx, place.Group, place.Name)
	})
	if err != nil {
		return s, err
	}
	s.state, s.metadata = meta.State, meta.Metadata
	switch {
	case meta.Version != metaVersion || meta.Type != "subvolume" && meta.Type != "clone":
		return s, errAskMgr
	case s.inFlight():
		s.metadata = nil
		return s, nil
	case s.state == ceph.SubvolumeRetained:
		s.metadata = nil
	case ceph.Owner(s.metadata) == l.infraID:
		folder, err := teardown.Limited(ctx, func(ctx context.Context) (ceph.SubvolumeFolder, error) {
			return l.mount.SubvolumeFolder(ctx, meta.Path)
		})
		if err != nil {
			return s, err
		}
		s.size, s.created = uint64(max(folder.Size, 0)), folder.Created
	}
	names, err := teardown.Limited(ctx, func(ctx context.Context) ([]string, error) {
		return l.mount.SubvolumeSnapshots(ctx, place.Group, place.Name)
	})
	for _, name := range names {
		s.snapshots = append(s.snapshots, l.inMeta(meta, name))
	}
	return s, err
}

// inMeta is a snapshot as a subvolume's file tells it.
func (l looker) inMeta(meta ceph.SubvolumeMeta, name string) snapshot {
	s := snapshot{name: name, metadata: meta.Snapshots[name]}
	owner := ceph.Owner(s.metadata)
	s.copied = (owner == l.infraID || owner == "") && slices.Contains(meta.Copying, name)
	return s
}
