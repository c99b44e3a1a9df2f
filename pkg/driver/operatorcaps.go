package driver

import (
	"context"
	"errors"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// MintingCaps are all that a user of the operators needs that makes users for the drivers.
var MintingCaps = ceph.Caps{
	Mgr: "allow module volumes rw, allow module rbd_support rw",
	Mon: `allow r, allow command "osd blocklist"` +
		`, allow command "auth get-or-create" with entity prefix client.csi-, allow command "auth caps" with entity prefix client.csi-` +
		`, allow command "auth get" with entity prefix client.csi-, allow command "auth rm" with entity prefix client.csi-` +
		`, allow command "auth rotate" with entity prefix client.csi-` +
		`, allow command "osd pool create", allow command "osd pool application enable", allow command "osd pool application set"` +
		`, allow command "osd pool application rm", allow command "osd pool set" with var=nodelete`,
	OSD: "profile rbd",
}

// MintingTrials are whether a user may make users.
var MintingTrials = []ceph.Trial{ceph.TryGetUser, ceph.TryMakeUser, ceph.TrySetCaps}

// PowerOverUsers is a command that a user may send by which it reads or changes other users, "" where none was found: with
// most of them, it can make itself an administrator. Nobody can ask for his own caps.
func PowerOverUsers(ctx context.Context, try func(context.Context, ceph.Trial) error, user ceph.Credentials) (string, error) {
	for _, trial := range ceph.TryUsers(user.Entity()) {
		err := try(ctx, trial)
		if err == nil {
			return trial.Prefix, nil
		}
		if !errors.Is(err, ceph.ErrDenied) && !errors.Is(err, ceph.ErrNoCommand) {
			return "", err
		}
	}
	return "", nil
}

// MountingCaps are beside them what a user needs with which volumes of CephFS are mounted.
var MountingCaps = ceph.Caps{
	MDS: "allow rw",
	OSD: ceph.Grants("allow rw tag cephfs metadata=*", "allow rw tag cephfs data=*"),
}
