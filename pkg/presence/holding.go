package presence

import (
	"cmp"
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
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
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
// time says little, and in no others. The pools that were tried longest ago come first: each silent one
// holds up a place until the deadline.
func (h *holding) keep(ctx context.Context, w want) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	maps.DeleteFunc(h.denied, func(pool string, _ time.Time) bool { return !slices.Contains(w.pools, pool) })
	due := h.due(w)
	kept := make([]ceph.Watch, len(due))
	errs := make([]error, len(due))
	places := make(chan struct{}, parallel)
	var all sync.WaitGroup
	for i, pool := range due {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			due = due[:i]
			break
		}
		h.begun[pool] = h.clock.Now()
		old := h.watches[pool]
		all.Go(func() {
			defer func() { <-places }()
			kept[i], errs[i] = w.tend(ctx, pool, old)
		})
	}
	all.Wait()
	for i, pool := range due {
		delete(h.watches, pool)
		if kept[i] != nil {
			h.watches[pool] = kept[i]
		}
		switch err := errs[i]; {
		case err == nil:
			delete(h.denied, pool)
		case errors.Is(err, ceph.ErrDenied):
			h.denied[pool], errs[i] = h.clock.Now(), nil
		case errors.Is(err, ceph.ErrNotFound):
			errs[i] = nil // A pool that has gone is told of by who looks after pools.
		}
		errs[i] = ignoreSilence(errs[i])
	}
	return errors.Join(errs...)
}

// due are the pools in which something is to be done.
func (h *holding) due(w want) []string {
	var out []string
	for pool := range h.watches {
		if !slices.Contains(w.pools, pool) {
			out = append(out, pool)
		}
	}
	for _, pool := range w.pools {
		old := h.watches[pool]
		holds := old != nil && old.Lost() == nil && (!w.create || h.clock.Since(h.begun[pool]) < renewInterval)
		if !holds && h.clock.Since(h.denied[pool]) >= lookInterval {
			out = append(out, pool)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(h.begun[a].Compare(h.begun[b]), cmp.Compare(a, b)) })
	return out
}

// tend watches in a pool if that is wanted, else removes the object, and returns the watch that there is
// then.
func (w want) tend(ctx context.Context, pool string, old ceph.Watch) (ceph.Watch, error) {
	if !slices.Contains(w.pools, pool) {
		old.End()
		if err := w.client.RemoveWatched(ctx, pool, w.object); err != nil && !errors.Is(err, ceph.ErrNotFound) && !errors.Is(err, ceph.ErrDenied) {
			return old, err
		}
		return nil, nil
	}
	if old != nil && old.Lost() != nil {
		old.End()
		old = nil
	}
	watch, err := w.client.Watch(ctx, pool, w.object, w.answer, w.create)
	if err != nil && old != nil {
		return old, nil // It holds, and is renewed some other time.
	}
	if err == nil && old != nil {
		old.End()
	}
	return watch, err
}

// ask looks for watchers of others in all pools at the same time: one that is silent takes seconds.
func (h *holding) ask(ctx context.Context, w want, instance string) error {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
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
