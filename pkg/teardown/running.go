package teardown

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
)

// ErrRunning says that an operator of the cluster was started while somebody was asked.
var ErrRunning = errors.New("nothing was removed: the cluster lives")

// Watchers tells who watches the objects of operators that run.
type Watchers interface {
	Pools(ctx context.Context) ([]ceph.Pool, error)
	Watchers(ctx context.Context, pool, object string) ([]ceph.Watcher, error)
}

// Operators are those of a cluster.
type Operators struct {
	infraID string
	ceph    Watchers
	kinds   []string
	clock   clock.Clock
}

// NewOperators looks for those of a cluster; kinds are those of the drivers.
func NewOperators(infraID string, c Watchers, kinds []string, clock clock.Clock) *Operators {
	return &Operators{infraID: infraID, ceph: c, kinds: kinds, clock: clock}
}

// Running are sentences on the operators that run, sorted, and the pools where they say so. It looks in
// all pools, whatever a run is limited to: a cluster that lives anywhere may use all its volumes. Whoever
// is silent is waited for until Ceph drops those that have died.
func (o *Operators) Running(ctx context.Context) ([]string, error) {
	return o.look(ctx, func(silent bool) bool { return silent })
}

// Remaining is Running after operators were told to end: whoever answers may still do so, and is waited
// for, too. Their pods are no measure: one that is deleted by force is gone before its process.
func (o *Operators) Remaining(ctx context.Context) ([]string, error) {
	return o.look(ctx, func(bool) bool { return true })
}

func (o *Operators) look(ctx context.Context, again func(silent bool) bool) ([]string, error) {
	all, err := Limited(ctx, o.ceph.Pools)
	if err != nil {
		return nil, err
	}
	var found []string
	err = AwaitDead(ctx, o.clock, func() (bool, error) {
		now, silent, err := o.ask(ctx, all)
		found = now
		return len(now) > 0 && again(silent), err
	})
	return found, err
}

// ask looks once, everywhere at the same time. silent says that nobody at all has answered.
func (o *Operators) ask(ctx context.Context, all []ceph.Pool) (found []string, silent bool, err error) {
	var mu sync.Mutex
	var errs []error
	where := map[string][]string{}
	var asked sync.WaitGroup
	silent = true
	for _, p := range all {
		if !ceph.ShowsPresence(p) {
			continue
		}
		for _, kind := range o.kinds {
			asked.Go(func() {
				watchers, err := watchersOf(ctx, o.ceph, sign{p.Name, ceph.PresenceObject(o.infraID, kind)})
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
				for _, w := range watchers {
					where[w.String()] = append(where[w.String()], p.Name)
					silent = silent && w.Silent
				}
			})
		}
	}
	asked.Wait()
	for who, names := range where {
		slices.Sort(names)
		found = append(found, fmt.Sprintf("%s (pools %s)", who, strings.Join(slices.Compact(names), ", ")))
	}
	slices.Sort(found)
	return found, silent, errors.Join(errs...)
}

// sign is where an operator says that it runs.
type sign struct{ pool, object string }

// signsOf are those in the pools that a cluster has claimed.
func signsOf(infraID string, all []ceph.Pool) []sign {
	var out []sign
	for _, p := range all {
		for _, kind := range driver.Kinds() {
			if ceph.ShowsPresence(p) && len(pools.Marked([]ceph.Pool{p}, infraID, kind)) > 0 {
				out = append(out, sign{p.Name, ceph.PresenceObject(infraID, kind)})
			}
		}
	}
	return out
}

func watchersOf(ctx context.Context, c Watchers, at sign) ([]ceph.Watcher, error) {
	found, err := Limited(ctx, func(ctx context.Context) ([]ceph.Watcher, error) { return c.Watchers(ctx, at.pool, at.object) })
	if errors.Is(err, ceph.ErrNotFound) {
		return nil, nil // The pool was removed meanwhile.
	}
	return found, err
}

// lastSeen is when operators last wrote that they run, in the pools that a cluster has claimed; zero where
// nothing tells.
func lastSeen(ctx context.Context, c ListCeph, all []ceph.Pool, infraID string) (time.Time, error) {
	var out time.Time
	for _, at := range signsOf(infraID, all) {
		seen, err := Limited(ctx, func(ctx context.Context) (time.Time, error) { return c.LastWatched(ctx, at.pool, at.object) })
		if err != nil && !errors.Is(err, ceph.ErrNotFound) {
			return out, err
		}
		if seen.After(out) {
			out = seen
		}
	}
	return out, nil
}

// runningIn lists who watches in the pools that a cluster has claimed, without waiting for anybody.
func runningIn(ctx context.Context, c Watchers, all []ceph.Pool, infraID string) ([]string, error) {
	var out []string
	for _, at := range signsOf(infraID, all) {
		found, err := watchersOf(ctx, c, at)
		if err != nil {
			return nil, err
		}
		for _, w := range found {
			out = append(out, w.String())
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// living is why a cluster whose operators run is refused, and what to do.
func living(infraID string, running []string) string {
	return fmt.Sprintf("the cluster lives: %s. Shut it down, or take the operators off it with uninstall; "+
		"one that has died counts for 30 seconds; --force-living=%s goes on all the same", strings.Join(running, "; "), infraID)
}
