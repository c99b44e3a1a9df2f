package cephtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// watch is one that a client has, or had.
type watch struct {
	cluster *Cluster
	client  uint64
	answer  []byte
	// dead says that the client has died, and Ceph has not noticed.
	dead bool

	mu   sync.Mutex
	lost error
}

func (w *watch) Lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

func (w *watch) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = err
	}
}

// End ends the watch.
func (w *watch) End() {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	w.cluster.unwatch(func(other *watch) bool { return other == w })
}

// unwatch ends watches; the objects stay.
func (c *Cluster) unwatch(which func(*watch) bool) {
	for at, all := range c.watched {
		for _, w := range all {
			if which(w) {
				w.lose(ceph.ErrClosed)
			}
		}
		c.watched[at] = slices.DeleteFunc(all, which)
	}
}

// shown works on an object that is there to be watched.
func (c *Client) shown(ctx context.Context, prefix, pool, name string, write bool, work func(cluster *Cluster, at object)) error {
	return c.run(ctx, everybody, func(cluster *Cluster) error {
		if err := c.checkNamespace(prefix, pool, ceph.PresenceNamespace, write); err != nil {
			return err
		}
		work(cluster, cluster.object(pool, ceph.PresenceNamespace, name))
		return nil
	})
}

// Watch watches an object and answers all who ask there.
func (c *Client) Watch(ctx context.Context, pool, name string, answer []byte, create bool) (ceph.Watch, error) {
	var out *watch
	err := c.shown(ctx, "watch", pool, name, true, func(cluster *Cluster, at object) {
		if _, found := cluster.watched[at]; !found && !create {
			return
		}
		if create {
			cluster.written[at] = cluster.now()
		}
		out = &watch{cluster: cluster, client: c.number, answer: slices.Clone(answer)}
		cluster.watched[at] = append(cluster.watched[at], out)
	})
	if err == nil && out == nil {
		err = refusal("stat "+name, syscall.ENOENT, "")
	}
	if err != nil {
		return nil, fmt.Errorf("watching object %s/%s of pool %q: %w", ceph.PresenceNamespace, name, pool, err)
	}
	return out, nil
}

// LastWatched is when an object was last written by who watched it.
func (c *Client) LastWatched(ctx context.Context, pool, name string) (out time.Time, err error) {
	found := false
	err = c.shown(ctx, "stat", pool, name, false, func(cluster *Cluster, at object) { out, found = cluster.written[at] })
	if err == nil && !found {
		err = refusal("stat "+name, syscall.ENOENT, "")
	}
	if err != nil {
		return out, fmt.Errorf("reading the time of object %s/%s of pool %q: %w", ceph.PresenceNamespace, name, pool, err)
	}
	return out, nil
}

// Watchers asks all who watch an object.
func (c *Client) Watchers(ctx context.Context, pool, name string) (out []ceph.Watcher, err error) {
	err = c.shown(ctx, "notify", pool, name, false, func(cluster *Cluster, at object) {
		for _, w := range cluster.watched[at] {
			answered := ceph.Watcher{Client: w.client, Answer: w.answer, Silent: w.dead}
			if w.dead {
				answered.Answer = nil
			}
			out = append(out, answered)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("asking who watches object %s/%s of pool %q: %w", ceph.PresenceNamespace, name, pool, err)
	}
	return out, nil
}

// RemoveWatched removes an object that is there to be watched.
func (c *Client) RemoveWatched(ctx context.Context, pool, name string) error {
	err := c.shown(ctx, "remove", pool, name, true, func(cluster *Cluster, at object) {
		for _, w := range cluster.watched[at] {
			w.lose(refusal("watch", syscall.ENOTCONN, ""))
		}
		delete(cluster.watched, at)
		delete(cluster.written, at)
	})
	if err != nil {
		return fmt.Errorf("removing object %s/%s of pool %q: %w", ceph.PresenceNamespace, name, pool, err)
	}
	return nil
}

// ClientAddress is where Ceph sees this connection.
func (c *Client) ClientAddress() string {
	const host = 200
	return fmt.Sprintf("10.30.0.%d", c.number%host)
}

// Watched are the objects that are there to be watched, as "pool/object", sorted.
func (c *Cluster) Watched() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, p := range c.pools {
		for at := range maps.Keys(c.watched) {
			if at.pool == p.ID {
				out = append(out, p.Name+"/"+at.name)
			}
		}
	}
	return slices.Sorted(slices.Values(out))
}

// LoseWatches is what an outage of all OSDs does that lasts longer than a watch.
func (c *Cluster) LoseWatches() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, all := range c.watched {
		for _, w := range all {
			w.lose(refusal("watch", syscall.ENOTCONN, ""))
		}
		c.watched[at] = nil
	}
}

// KillWatchers has all die who watch; Ceph has not noticed until it buries them.
func (c *Cluster) KillWatchers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range c.watched {
		for _, w := range all {
			w.dead = true
		}
	}
}

// BuryWatchers is what Ceph does 30 seconds after KillWatchers.
func (c *Cluster) BuryWatchers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch(func(w *watch) bool { return w.dead })
}
