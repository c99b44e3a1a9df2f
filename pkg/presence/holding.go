package presence

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// want is what is to be held in one Ceph cluster.
type want struct {
	client Cluster
	pools  []string
	object string
	answer []byte
	// create says that objects may be made.
	create bool
}

// holding is what is held in one Ceph cluster.
type holding struct {
	clock  clock.PassiveClock
	client Cluster
	// watches are held, by pool, since what begun says; object is what they are on.
	watches map[string]ceph.Watch
	begun   map[string]time.Time
	object  string
	// denied is when Ceph refused a watch last, by pool.
	denied map[string]time.Time
	// asked is when others were asked for last, others what came of it.
	asked  time.Time
	others sighting
}

// follow begins anew over another connection, or with another object.
func (h *holding) follow(ctx context.Context, w want) {
	if h.client == w.client && h.object == w.object {
		return
	}
	if h.client == w.client {
		for pool, watch := range h.watches {
			watch.End()
			_ = w.client.RemoveWatched(ctx, pool, h.object) // An empty object harms nobody.
		}
	}
	h.client, h.object, h.asked = w.client, w.object, time.Time{}
	h.watches, h.begun, h.denied = map[string]ceph.Watch{}, map[string]time.Time{}, map[string]time.Time{}
}

// keep watches in the pools that are wanted, again where a watch was lost or is so old that the object's
// time says little, and in no others.
func (h *holding) keep(ctx context.Context, w want) error {
	var errs []error
	for pool, watch := range h.watches {
		if slices.Contains(w.pools, pool) {
			continue
		}
		watch.End()
		if err := w.client.RemoveWatched(ctx, pool, h.object); err != nil && !errors.Is(err, ceph.ErrNotFound) && !errors.Is(err, ceph.ErrDenied) {
			errs = append(errs, err)
			continue
		}
		delete(h.watches, pool)
	}
	maps.DeleteFunc(h.denied, func(pool string, _ time.Time) bool { return !slices.Contains(w.pools, pool) })
	for _, pool := range w.pools {
		old := h.watches[pool]
		if old != nil && old.Lost() != nil {
			old.End()
			delete(h.watches, pool)
			old = nil
		}
		if old != nil && (!w.create || h.clock.Since(h.begun[pool]) < renewInterval) || h.clock.Since(h.denied[pool]) < lookInterval {
			continue
		}
		watch, err := w.client.Watch(ctx, pool, h.object, w.answer, w.create)
		h.begun[pool] = h.clock.Now()
		switch {
		case err == nil:
			h.watches[pool] = watch
			delete(h.denied, pool)
			if old != nil {
				old.End()
			}
		case old != nil: // It holds, and is renewed some other time.
		case errors.Is(err, ceph.ErrDenied):
			h.denied[pool] = h.clock.Now()
		case !errors.Is(err, ceph.ErrNotFound): // A pool that has gone is told of by who looks after pools.
			errs = append(errs, err)
		}
	}
	return ignoreSilence(errors.Join(errs...))
}

// ask looks for watchers of others in all pools at the same time: one that is silent takes seconds.
func (h *holding) ask(ctx context.Context, w want, instance string) error {
	var mu sync.Mutex
	var found []ceph.Watcher
	var errs []error
	var all sync.WaitGroup
	for pool := range h.watches {
		all.Go(func() {
			watchers, err := w.client.Watchers(ctx, pool, h.object)
			mu.Lock()
			defer mu.Unlock()
			found, errs = append(found, watchers...), append(errs, err)
		})
	}
	all.Wait()
	err := errors.Join(errs...)
	var who []string
	for _, watcher := range found {
		if watcher.Presence().Instance != instance {
			who = append(who, watcher.String())
		}
	}
	slices.Sort(who)
	if who = slices.Compact(who); err == nil || len(who) > 0 {
		h.others = h.others.look(h.clock.Now(), who)
	}
	return ignoreSilence(err)
}

// ignoreSilence: pkg/connection tells of outages.
func ignoreSilence(err error) error {
	if ceph.NoAnswer(err) {
		return nil
	}
	return err
}
