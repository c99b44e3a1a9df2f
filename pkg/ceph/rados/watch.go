//go:build cgo

package rados

// The watch is taken and answered here, not by go-ceph: there, whoever takes a watch keeps all
// callbacks waiting, in the only thread that librados has here, which would be needed to finish.

/*
#cgo LDFLAGS: -lrados
#include <stdint.h>
#include <stdlib.h>
#include <rados/librados.h>

typedef struct {
	rados_ioctx_t io;
	char *object, *answer;
	int length;
	uint64_t cookie;
} watch_t;

static void watch_notified(void *arg, uint64_t notify, uint64_t cookie, uint64_t notifier, void *data, size_t length) {
	watch_t *w = arg;
	rados_notify_ack(w->io, w->object, notify, cookie, w->answer, w->length);
}

static int watch_begin(watch_t *w) { return rados_watch3(w->io, w->object, &w->cookie, watch_notified, NULL, 0, w); }
static int watch_check(watch_t *w) { return rados_watch_check(w->io, w->cookie); }
static int watch_end(watch_t *w) { return rados_unwatch2(w->io, w->cookie); }

static watch_t *watch_new(rados_ioctx_t io, char *object, char *answer, int length) {
	watch_t *w = calloc(1, sizeof *w);
	w->io = io;
	w->object = object;
	w->answer = answer;
	w->length = length;
	return w;
}

static void watch_free(watch_t *w) {
	free(w->object);
	free(w->answer);
	free(w);
}
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	// answerTime is how long whoever watches may take to answer, in milliseconds; it takes one.
	answerTime = 5000
	// ending bounds how long End waits for Ceph.
	ending = 2 * time.Second
)

// watch is one on an object. librados keeps it through outages of OSDs that are shorter than theirs.
type watch struct {
	conn *Conn
	io   *rados.IOContext
	// ended is closed when nothing is left of it.
	ended chan struct{}

	mu   sync.Mutex // guards held
	held *C.watch_t
}

// Watch watches an object in ceph.PresenceNamespace and answers all who ask there. With create, it writes
// the answer into the object first, which is made if it is missing, so that its time is that of the last
// watch. The user needs the right to write objects there. A full pool is no hindrance: the cluster lives.
func (c *Conn) Watch(ctx context.Context, pool, object string, answer []byte, create bool) (ceph.Watch, error) {
	w, err := c.watchOf(ctx, pool, object, answer, create)
	if err != nil {
		return nil, fmt.Errorf("watching object %s/%s of pool %q: %w", ceph.PresenceNamespace, object, pool, err)
	}
	return w, nil
}

func (c *Conn) watchOf(ctx context.Context, pool, object string, answer []byte, create bool) (*watch, error) {
	// librados has no time limit for a watch. This one has, and shows that the OSD works.
	_, err := in(ctx, c, pool, ceph.PresenceNamespace, func(io *rados.IOContext) (struct{}, error) {
		var err error
		if create {
			op := rados.CreateWriteOp()
			defer op.Release()
			op.WriteFull(fmt.Appendf(nil, "%s\n", answer)) // go-ceph cannot write nothing.
			err = op.Operate(io, object, evenIfFull)
		} else {
			_, err = io.Stat(object)
		}
		if err != nil {
			return struct{}{}, failure("create "+object, "", err)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	return callLate(ctx, c, func(conn *rados.Conn) (*watch, error) {
		io, err := contextOf(conn, pool, true)
		if err != nil {
			return nil, err
		}
		io.SetNamespace(ceph.PresenceNamespace)
		w := &watch{conn: c, io: io, ended: make(chan struct{})}
		w.held = C.watch_new(C.rados_ioctx_t(io.Pointer()), C.CString(object), (*C.char)(C.CBytes(answer)), C.int(len(answer)))
		if code := C.watch_begin(w.held); code < 0 {
			w.free()
			return nil, &ceph.CommandError{Command: "watch " + object, Errno: int(code)}
		}
		c.hold(w)
		return w, nil
	}, func(late *watch) {
		if late != nil {
			late.End()
		}
	})
}

// hold keeps the connection, like a call, until the watch has ended: librados must not be shut down
// under it.
func (c *Conn) hold(w *watch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.watches[w] = true
	if c.closed {
		go w.End()
	}
}

// endWatches ends all of them at the same time.
func (c *Conn) endWatches() {
	c.mu.Lock()
	var all sync.WaitGroup
	for w := range c.watches {
		all.Go(w.End)
	}
	c.mu.Unlock()
	all.Wait()
}

// Lost asks librados, which asks nobody.
func (w *watch) Lost() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil {
		return ceph.ErrClosed
	}
	if code := C.watch_check(w.held); code < 0 {
		return &ceph.CommandError{Command: "watch", Errno: int(code)}
	}
	return nil
}

func (w *watch) End() {
	w.mu.Lock()
	if held := w.held; held != nil {
		w.held = nil
		go w.end(held)
	}
	w.mu.Unlock()
	select {
	case <-w.ended:
	case <-time.After(ending):
	}
}

func (w *watch) end(held *C.watch_t) {
	defer w.conn.leave()
	defer close(w.ended)
	C.watch_end(held)
	// After it, no answer is under way any more.
	_ = w.conn.conn.WatcherFlush()
	C.watch_free(held)
	w.io.Destroy()
	w.conn.mu.Lock()
	delete(w.conn.watches, w)
	w.conn.mu.Unlock()
}

// free is for one that nobody holds.
func (w *watch) free() {
	C.watch_free(w.held)
	w.io.Destroy()
}

// LastWatched is when an object in ceph.PresenceNamespace was last written by who watched it. The user
// needs the right to read objects there.
func (c *Conn) LastWatched(ctx context.Context, pool, object string) (time.Time, error) {
	at, err := in(ctx, c, pool, ceph.PresenceNamespace, func(io *rados.IOContext) (time.Time, error) {
		stat, err := io.Stat(object)
		if err != nil {
			return time.Time{}, failure("stat "+object, "", err)
		}
		return stat.ModTime.UTC(), nil
	})
	if err != nil {
		return at, fmt.Errorf("reading the time of object %s/%s of pool %q: %w", ceph.PresenceNamespace, object, pool, err)
	}
	return at, nil
}

// Watchers asks all who watch an object in ceph.PresenceNamespace; where there is none, nobody does. The
// user needs the right to read objects there.
func (c *Conn) Watchers(ctx context.Context, pool, object string) ([]ceph.Watcher, error) {
	// Here, too, librados has no time limit of its own.
	_, err := in(ctx, c, pool, ceph.PresenceNamespace, func(io *rados.IOContext) (struct{}, error) {
		_, err := io.Stat(object)
		if err != nil {
			err = failure("stat "+object, "", err)
		}
		return struct{}{}, err
	})
	var reply []byte
	if err == nil {
		reply, err = call(ctx, c, func(conn *rados.Conn) ([]byte, error) { return notify(conn, pool, object) })
	}
	if missingObject(err) {
		return nil, nil
	}
	var found []ceph.Watcher
	if err == nil {
		found, err = ceph.ParseWatchers(reply)
	}
	if err != nil {
		return nil, fmt.Errorf("asking who watches object %s/%s of pool %q: %w", ceph.PresenceNamespace, object, pool, err)
	}
	return found, nil
}

// notify returns the answers also where some did not answer.
func notify(conn *rados.Conn, pool, object string) ([]byte, error) {
	io, err := conn.OpenIOContext(pool)
	if err != nil {
		return nil, failure(openPool, "", err)
	}
	defer io.Destroy()
	io.SetNamespace(ceph.PresenceNamespace)
	name := C.CString(object)
	defer C.free(unsafe.Pointer(name))
	var reply *C.char
	var length C.size_t
	code := C.rados_notify2(C.rados_ioctx_t(io.Pointer()), name, nil, 0, answerTime, &reply, &length)
	defer func() { C.rados_buffer_free(reply) }()
	if code < 0 && (-code != C.int(syscall.ETIMEDOUT) || length == 0) {
		return nil, &ceph.CommandError{Command: "notify " + object, Errno: int(code)}
	}
	return C.GoBytes(unsafe.Pointer(reply), C.int(length)), nil
}

// missingObject is true of objects, not of pools.
func missingObject(err error) bool {
	var refused *ceph.CommandError
	return errors.Is(err, ceph.ErrNotFound) && errors.As(err, &refused) && refused.Command != openPool
}

// ClientAddress is where Ceph sees this connection, without what is of no use to people.
func (c *Conn) ClientAddress() string {
	if c.enter() != nil {
		return ""
	}
	defer c.leave()
	addresses, err := c.conn.GetAddrs()
	if err != nil {
		return ""
	}
	address, _, _ := strings.Cut(addresses, ":0/")
	return address
}

// RemoveWatched removes an object in ceph.PresenceNamespace; one that is missing is no error. Who
// watches it loses the watch.
func (c *Conn) RemoveWatched(ctx context.Context, pool, object string) error {
	_, err := in(ctx, c, pool, ceph.PresenceNamespace, func(io *rados.IOContext) (struct{}, error) {
		op := rados.CreateWriteOp()
		defer op.Release()
		op.Remove()
		if err := op.Operate(io, object, evenIfFull); err != nil {
			return struct{}{}, failure("remove "+object, "", err)
		}
		return struct{}{}, nil
	})
	if err != nil && !missingObject(err) {
		return fmt.Errorf("removing object %s/%s of pool %q: %w", ceph.PresenceNamespace, object, pool, err)
	}
	return nil
}
