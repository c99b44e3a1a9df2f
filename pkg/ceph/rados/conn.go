//go:build cgo

package rados

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// maxCalls bounds the threads that a Ceph without answers can hold.
const maxCalls = 8

// Conn is a live connection to a Ceph cluster. It may be used concurrently, follows the
// cluster's mons by itself, and works again after any outage: keep it for as long as the
// declaration stays the same. Errors of its methods wrap ErrTimeout, ErrDenied,
// ErrNotFound or ErrClosed where they apply, and a CommandError where Ceph refused.
type Conn struct {
	conn   *rados.Conn
	source ceph.Source
	slots  chan struct{}
	// asking is held during a command to the mgr.
	asking  chan struct{}
	silence silence
	// removes is Options.Removes.
	removes bool

	// unmounting are filesystems whose Close is under way.
	unmounting sync.WaitGroup

	mu     sync.Mutex // guards what is below
	calls  int
	closed bool
	// watches are held. Each counts as a call.
	watches map[*watch]bool
}

func newConn(conn *rados.Conn, source ceph.Source, calls int) *Conn {
	return &Conn{conn: conn, source: source, slots: make(chan struct{}, calls), asking: make(chan struct{}, 1), silence: silence{patience: defaultSilence}, watches: map[*watch]bool{}}
}

// Close ends the connection and its watches; calls that are under way may still finish. It does not
// wait for them, only some seconds for watches and for filesystems that are being unmounted, and may be
// called again.
func (c *Conn) Close() {
	c.unmounted()
	c.shut()
	c.endWatches()
}

func (c *Conn) shut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if c.calls == 0 {
		c.conn.Shutdown()
	}
}

func (c *Conn) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ceph.ErrClosed
	}
	c.calls++
	return nil
}

// leave ends a call; the last one after Close frees the connection, because librados must
// not be shut down under a call.
func (c *Conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls--
	if c.closed && c.calls == 0 {
		c.conn.Shutdown()
	}
}

// call runs work with a deadline.
func call[T any](ctx context.Context, c *Conn, work func(*rados.Conn) (T, error)) (T, error) {
	return callLate(ctx, c, work, func(T) {})
}

// callLate is call for work whose value late has to get where nobody waits for it any more.
func callLate[T any](ctx context.Context, c *Conn, work func(*rados.Conn) (T, error), late func(T)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	select {
	case c.slots <- struct{}{}:
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	if err := c.enter(); err != nil {
		<-c.slots
		return none, err
	}
	return await(ctx, func() (T, error) {
		defer func() {
			c.leave()
			<-c.slots
		}()
		return work(c.conn)
	}, late)
}

// arguments of a command, beside its prefix.
type arguments map[string]any

func (a arguments) encode(prefix string) ([]byte, error) {
	command := map[string]any{"prefix": prefix, "format": "json"}
	maps.Copy(command, a)
	return json.Marshal(command)
}

// mon sends a command to the mons and returns its output.
func (c *Conn) mon(ctx context.Context, prefix string, args arguments) ([]byte, error) {
	command, err := args.encode(prefix)
	if err != nil {
		return nil, err
	}
	return call(ctx, c, func(conn *rados.Conn) ([]byte, error) {
		output, status, err := conn.MonCommand(command)
		if err != nil {
			return nil, failure(prefix, status, err)
		}
		return output, nil
	})
}

// mgr sends a command to the active mgr and returns its output. Without a mgr it waits.
//
// Each command has a connection of its own, without librados' time limit: that one gives up a
// mgr command without taking it back, and the late answer is written where the caller's stack
// was (seen with 16.2.15, which then aborts the process). So a command that is not answered
// keeps its connection until it is, and the next one waits for it.
func (c *Conn) mgr(ctx context.Context, prefix string, args arguments) ([]byte, error) {
	return managed(ctx, c, func(send ask) ([]byte, error) { return send(prefix, args) })
}
