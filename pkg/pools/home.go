package pools

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/state"
)

// home is what subvolumes share in whatever filesystem: their group, and the RADOS namespace of their
// journal; empty for ceph-csi's own choice, which all clusters have in common. It stands in config.json
// and in no class, and it never moves: ceph-csi finds volumes nowhere else.
type home struct{ group, journal string }

// origin says what a home is known by.
type origin int

const (
	// waiting is for who the driver's users are.
	waiting origin = iota
	remembered
	// chosen is what is to be remembered.
	chosen
	// lost: volumes may be there, and nobody remembers where. Ceph knows.
	lost
)

// homeOf decides where the driver's subvolumes are at home.
//
//	remembered  config.json has  class or volumes  users of our own  | home
//	yes         –                –                 –                 | as remembered
//	no          an entry         –                 –                 | as it says
//	no          none             yes               –                 | lost: that of the infra ID, if Ceph has it
//	no          none             no                not known yet     | waiting
//	no          none             no                no                | ceph-csi's own, which the given user was made for
//	no          none             no                yes               | that of the infra ID: nobody else's users reach it
//
// A group of the settings counts for more, unless something lies in another one: ceph-csi looks for all volumes of a Ceph cluster in
// the one group that config.json names, and takes those that it does not find there for deleted (NewVolumeOptionsFromVolID and
// DeleteVolume in its internal/cephfs). The journal is that of other entries of config.json, where
// there are some: ceph-csi keeps the namespace of its last call for all that are under way (Config.Connect
// in its internal/journal), so that calls for several would write into each other's.
func homeOf(d driver.Driver, in input) (home, origin) {
	if !d.NeedsFilesystem {
		return home{}, remembered
	}
	h, by := in.settled()
	switch {
	case by != waiting:
	case named(in.class) && sameCluster(in.fsid, in.class) || len(in.volumes) > 0:
		by = lost
	case in.users == nil:
	case *in.users:
		h, by = home{in.infraID, in.infraID}, chosen
		if len(in.config) > 0 {
			h.journal = in.config[0].JournalNamespace
		}
	default:
		by = chosen
	}
	if !in.held {
		h.group = cmp.Or(in.settings.SubvolumeGroup, h.group)
	}
	return h, by
}

// settled is a home that the driver has worked with.
func (in input) settled() (home, origin) {
	if in.atHome() {
		return home{in.recorded.SubvolumeGroup, in.recorded.JournalNamespace}, remembered
	}
	for _, e := range in.config {
		if e.ClusterID == cmp.Or(in.fsid, in.class.FSID) {
			return home{e.SubvolumeGroup, e.JournalNamespace}, chosen
		}
	}
	return home{}, waiting
}

// leaves says that the settings name another subvolume group than that in which volumes may be.
func (in input) leaves() bool {
	h, _ := in.settled()
	return h.group != "" && in.settings.SubvolumeGroup != "" && in.settings.SubvolumeGroup != h.group
}

// stays is what is wrong with such settings while volumes are there, or while it cannot be seen whether some are.
func stays(q question, place ceph.Placement) error {
	field := fmt.Sprintf("spec.driverConfig.ceph.subvolumeGroup is %q, and", q.group)
	if q.unseen != "" {
		return fmt.Errorf("%s it cannot be seen whether something is in subvolume group %q, which is kept until then: %s", field, place.SubvolumeGroup, q.unseen)
	}
	return fmt.Errorf("%w: %s volumes or snapshots are in subvolume group %q: ceph-csi looks for all of them in one group, and would take these for deleted; "+
		"set it to %q: another can be chosen when there are none", driver.ErrInvalidSettings, field, place.SubvolumeGroup, place.SubvolumeGroup)
}

func (in input) atHome() bool {
	return in.recorded.SubvolumeGroup != "" && sameCluster(in.fsid, in.recorded)
}

// settle remembers a home that nobody did, after asking Ceph where volumes may be, before anything can be made there.
func (c *Controller) settle(ctx context.Context, q question) (driver.Wish, error) {
	wish := q.wish
	if q.home == remembered {
		return wish, nil
	}
	if q.home == lost {
		groups, err := c.session.SubvolumeGroups(ctx, wish.Filesystem)
		if err != nil {
			return wish, fmt.Errorf("finding the subvolume group of earlier volumes in filesystem %q: %w", wish.Filesystem, err)
		}
		if slices.Contains(groups, q.infraID) {
			wish.SubvolumeGroup, wish.JournalNamespace = cmp.Or(wish.SubvolumeGroup, q.infraID), q.infraID
		}
	}
	return wish, c.Record.Save(ctx, state.Placement{
		FSID: wish.FSID, SubvolumeGroup: cmp.Or(wish.SubvolumeGroup, driver.DefaultSubvolumeGroup), JournalNamespace: wish.JournalNamespace,
	})
}
