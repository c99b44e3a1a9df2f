package faults

import (
	"context"
	"errors"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// Freeze has a part of Ceph answer nobody for Lasting, and returns when that has begun. over is told how it went.
func Freeze(ctx context.Context, ceph *cephdaemons.Ceph, part Part, over func(error)) {
	both := map[Part]struct{ pause, resume func() error }{
		Mons: {ceph.PauseMons, ceph.ResumeMons},
		Mgr:  {ceph.PauseMgr, ceph.ResumeMgr},
		OSD:  {ceph.PauseOSD, ceph.ResumeOSD},
		Room: {func() error { return ceph.Fill(ctx) }, func() error { return ceph.Empty(ctx) }},
	}[part]
	paused := both.pause()
	time.AfterFunc(Lasting, func() { over(errors.Join(paused, both.resume())) })
}
