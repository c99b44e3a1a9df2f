package process

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/openshift/library-go/pkg/config/clusterstatus"
	leaderelectionconverter "github.com/openshift/library-go/pkg/config/leaderelection"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// asking is how often, by up to 120 % more seldom, a candidate looks whether the lease was released.
// By library-go's retry period, a new pod would wait for half a minute to a minute.
const asking = time.Second

// rounding is more than what the API server leaves of a time differs from it by.
const rounding = time.Second

// endLimit is how long the controllers may take to end, far below the 30 seconds of a pod.
const endLimit = 5 * time.Second

// errBack: the API server goes on with watches over an etcd that was restored from a backup, and tells
// nothing of what is otherwise there, nor of anything new until the backup's resourceVersions have caught
// up. A process that starts anew sees everything.
var errBack = errors.New("the API server's data went back in time, as after a restore of etcd from a backup: starting anew")

// elected runs start while this process has the lease.
func (p Process) elected(ctx context.Context, given configv1.LeaderElection, c *controllercmd.ControllerContext, start controllercmd.StartFunc) error {
	if given.Disable {
		return start(ctx, c)
	}
	election, err := p.election(ctx, given, c)
	if err != nil {
		return err
	}
	return lead(ctx, election, func(ctx context.Context) error { return start(ctx, c) })
}

// election is for the lease of the process, with library-go's durations unless --config has others.
func (p Process) election(ctx context.Context, given configv1.LeaderElection, c *controllercmd.ControllerContext) (leaderelection.LeaderElectionConfig, error) {
	config := leaderelectionconverter.LeaderElectionDefaulting(given, p.Flags.Namespace, p.Name+"-lock")
	if given.LeaseDuration.Duration == 0 && given.RenewDeadline.Duration == 0 && given.RetryPeriod.Duration == 0 {
		status, err := clusterstatus.GetClusterInfraStatus(ctx, c.KubeConfig)
		switch {
		case err != nil:
			klog.Warningf("leader election for several masters, as it is not known whether there is one: %v", err)
		case status.ControlPlaneTopology == configv1.SingleReplicaTopologyMode:
			config = leaderelectionconverter.LeaderElectionSNOConfig(config)
		}
	}
	client := rest.CopyConfig(c.ProtoKubeConfig)
	// A connection that hangs must not outlast the lease.
	client.Timeout = config.RenewDeadline.Duration
	out, err := leaderelectionconverter.ToLeaderElectionWithLease(client, config, p.Name, p.Identity)
	if err != nil {
		return out, fmt.Errorf("preparing the leader election: %w", err)
	}
	return out, nil
}

// lead runs start while this process has the lease, and returns when it has it no more: when the
// context or start ends, or the lease is lost. It waits for start, some seconds: what the controllers
// hold in Ceph would stay there for half a minute if the process ended under them.
func lead(ctx context.Context, election leaderelection.LeaderElectionConfig, start func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended, finished := make(chan error, 1), make(chan struct{})
	var started atomic.Bool
	back := func() {
		select {
		case ended <- errBack:
		default:
		}
		cancel()
	}
	election.Lock = &lock{Interface: election.Lock, every: election.RetryPeriod - asking, back: back}
	election.RetryPeriod = min(election.RetryPeriod, asking)
	election.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(leading context.Context) {
			defer cancel()
			if leading.Err() != nil {
				return
			}
			started.Store(true)
			defer close(finished)
			err := start(leading)
			if leading.Err() != nil {
				return
			}
			if err == nil {
				err = errors.New("the controllers have ended by themselves")
			}
			ended <- err
		},
		OnStoppedLeading: func() { klog.Info("stopped leading") },
	}
	elector, err := leaderelection.NewLeaderElector(election)
	if err != nil {
		return fmt.Errorf("electing a leader: %w", err)
	}
	elector.Run(ctx)
	if started.Load() {
		select {
		case <-finished:
		case <-time.After(endLimit):
			klog.Info("the controllers do not end")
		}
	}
	select {
	case err := <-ended:
		return err
	default:
		return nil
	}
}

// lock is a lease of which candidates hear soon that it was released, which is renewed no more often
// for that, and which nobody has who was ended while he asked for it.
type lock struct {
	resourcelock.Interface
	// every is how often it is renewed, at most.
	every   time.Duration
	renewed time.Time
	// written is what was written last, tried the time of what was sent last, whose answer may be lost.
	written resourcelock.LeaderElectionRecord
	tried   time.Time
	// back is called when what is read was written before.
	back func()
}

func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && l.before(record) {
		l.back()
	}
	return record, raw, err
}

// before says whether a record is of the time before the last write: of who had the lease before this process, or of this
// process. Whoever takes the lease counts up its transitions, which its release does not.
func (l *lock) before(record *resourcelock.LeaderElectionRecord) bool {
	return record.LeaderTransitions < l.written.LeaderTransitions ||
		record.HolderIdentity != "" && record.HolderIdentity == l.written.HolderIdentity && l.former(record.RenewTime.Time)
}

// former says whether a time is neither of what was written last, nor of what may have been written since: earlier, or later
// where the clock was set back.
func (l *lock) former(renewed time.Time) bool {
	first, last := l.written.RenewTime.Time, l.tried
	if last.Before(first) {
		first, last = last, first
	}
	return first.Sub(renewed) > rounding || renewed.Sub(last) > rounding
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != "" && time.Since(l.renewed) < l.every {
		return nil
	}
	return l.write(ctx, record, l.Interface.Update)
}

// write waits for the answer although the process is to end: if nobody did, the lease might be left
// for minutes with who is gone.
func (l *lock) write(ctx context.Context, record resourcelock.LeaderElectionRecord, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := time.Now()
	l.tried = record.RenewTime.Time
	err := write(context.WithoutCancel(ctx), record)
	if err == nil {
		l.renewed, l.written = now, record
	}
	return err
}
