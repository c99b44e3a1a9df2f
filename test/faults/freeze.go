package faults

import (
	"context"
	"errors"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// Freeze has a part of Ceph answer nobody for Lasting, killed or not, and returns when that has begun. over is told how
// it went, of the MDS once the mgr has mounted anew, too.
func Freeze(ctx context.Context, ceph *cephdaemons.Ceph, part Part, dies bool, over func(error)) {
	both := map[Part]struct{ begin, end func() error }{
		Mons: {ceph.PauseMons, ceph.ResumeMons},
		Mgr:  {ceph.PauseMgr, ceph.ResumeMgr},
		OSD:  {ceph.PauseOSD, func() error { return ceph.ResumeOSD(ctx) }},
		MDS:  {ceph.PauseMDS, func() error { return ceph.StartAgain(ctx, ceph.Kill(ctx, daemons[MDS])) }},
		Room: {func() error { return ceph.Fill(ctx) }, func() error { return ceph.Empty(ctx) }},
	}[part]
	if dies {
		var killed []string
		both.begin = func() error {
			killed = ceph.Kill(ctx, daemons[part])
			return nil
		}
		both.end = func() error { return ceph.StartAgain(ctx, killed) }
	}
	begun := both.begin()
	time.AfterFunc(Lasting, func() {
		err := errors.Join(begun, both.end())
		if part == MDS {
			err = errors.Join(err, remount(ctx, ceph))
		}
		over(err)
	})
}

// remount starts the mgr anew, as an administrator does: a mount that it began when the MDS went does not
// come back, and who asks for subvolumes waits for ever (seen with Ceph 16.2.15).
func remount(ctx context.Context, ceph *cephdaemons.Ceph) error {
	return ceph.StartAgain(ctx, ceph.Kill(ctx, daemons[Mgr]))
}

var daemons = map[Part]string{Mons: "ceph-mon", Mgr: "ceph-mgr", OSD: "ceph-osd", MDS: "ceph-mds"}
