package subvolumes

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// An MDS answers a change before it is in its journal, and whoever needs the locks of that change
// waits until it is: for the MDS's next tick, unless something else makes it write. Threads of the
// mgr, one of which removes a subvolume while others purge those before it, wait for each other so,
// up to 5 s each time (mds_tick_interval; seen with Ceph 16.2.15, 2 to 5 times among 200 removals of
// 7 ms each). A client that opens a session makes the MDS write (Server::handle_client_session).
const (
	// patience is some times what the mgr takes for a removal.
	patience = 30 * time.Millisecond
	// tick is when the MDS writes by itself.
	tick = 5 * time.Second
)

// hurried is each; while nothing gets done, it opens sessions with the filesystem.
func (p *part) hurried(ctx context.Context, filesystem string, workers, n int, work func(ctx context.Context, i int) error) error {
	var done atomic.Int64
	stop := p.hurry(ctx, filesystem, &done)
	defer stop()
	return teardown.Each(ctx, workers, n, func(ctx context.Context, i int) error {
		defer done.Add(1)
		return work(ctx, i)
	})
}

// hurry looks at done until it is stopped.
func (p *part) hurry(ctx context.Context, filesystem string, done *atomic.Int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		pause, before := patience, int64(0)
		for teardown.Wait(ctx, p.Clock, pause) == nil {
			now := done.Load()
			if now != before {
				pause, before = patience, now
				continue
			}
			pause = min(2*pause, tick)
			if mount, err := p.mount(ctx, filesystem); err == nil {
				mount.Close()
			}
		}
	})
	return func() {
		cancel()
		group.Wait()
	}
}
