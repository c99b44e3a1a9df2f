package faults

import (
	"errors"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// Freeze has a part of Ceph answer nobody for Lasting, and returns at once. over is told how it went.
func Freeze(ceph *cephdaemons.Ceph, daemons Daemons, over func(error)) {
	both := map[Daemons]struct{ pause, resume func() error }{
		Mons: {ceph.PauseMons, ceph.ResumeMons},
		Mgr:  {ceph.PauseMgr, ceph.ResumeMgr},
		OSD:  {ceph.PauseOSD, ceph.ResumeOSD},
	}[daemons]
	paused := both.pause()
	time.AfterFunc(Lasting, func() { over(errors.Join(paused, both.resume())) })
}
