//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/shell"
)

const (
	defaultMount = 15 * time.Second
	defaultMon   = 20 * time.Second
	defaultOSD   = 30 * time.Second
	// A mon refuses a wrong key within 0.4 s; over v1, to a newer librados, within 6 s.
	probeTimeout = 8 * time.Second
	// probeReserve is what a deadline leaves for that.
	probeReserve = 3 * time.Second
	maxProbes    = 12
)

// Options bound what librados waits for. librados takes whole seconds only; they are
// rounded up. Zero means the default.
type Options struct {
	// Mount bounds Dial: 15 s, so that three batches of silent mons can be tried. A nearer
	// deadline of Dial's context shortens it.
	Mount time.Duration
	// Mon bounds mon and mgr commands: 20 s, because Ceph answers nobody for 15 s after
	// its leader died.
	Mon time.Duration
	// OSD bounds reading and writing of objects: 30 s.
	OSD time.Duration
	// Silence is after how long it is asked why no OSD answers: 10 s.
	Silence time.Duration
	// Calls is how many calls may be under way; the others wait. 8 unless it is more. With more,
	// librados takes threads for more, too.
	Calls int
	// Removes is for who removes what others have left: its writes do not wait until full pools have room, as `rbd rm` does
	// not either.
	Removes bool
}

// unlimited is for calls that must not end before their answer.
const unlimited time.Duration = -1

// Dial connects to the Ceph cluster that source declares. Errors wrap ErrWrongKey,
// ErrUnreachable, ErrOtherCluster (the mons have another fsid than source), or ErrTimeout
// when ctx ended first. They never show the key.
func Dial(ctx context.Context, source ceph.Source, options Options) (*Conn, error) {
	monitors := initial(source.Monitors)
	if len(monitors) == 0 {
		return nil, fmt.Errorf("connecting to Ceph: %w: no mon address given", ceph.ErrUnreachable)
	}
	// librados prints keys that it cannot decode.
	if _, err := ceph.ParseKey(source.Key.Reveal()); err != nil {
		return nil, fmt.Errorf("connecting to Ceph as client.%s: %w: %w", source.UserID, ceph.ErrWrongKey, err)
	}
	conn, err := connect(ctx, source, monitors, options)
	if err != nil {
		return nil, fmt.Errorf("connecting to Ceph as client.%s at %s: %w", source.UserID, ceph.MonHost(monitors), err)
	}
	c := newConn(conn, source, max(options.Calls, maxCalls))
	c.silence.patience = orDefault(options.Silence, defaultSilence)
	c.removes = options.Removes
	if err := c.checkFSID(ctx, source.FSID); err != nil {
		c.Close()
		return nil, fmt.Errorf("connecting to Ceph at %s: %w", ceph.MonHost(monitors), err)
	}
	return c, nil
}

// initial lists the addresses that librados gets: each once, and no more than it survives.
func initial(monitors []ceph.Address) []ceph.Address {
	unique := ceph.UniqueAddresses(monitors)
	return unique[:min(len(unique), ceph.MaxAddresses)]
}

// connect tries all addresses together. When none of them led to a connection, it tries
// each alone: one dead address is enough for librados to report a wrong key as a time-out.
func connect(ctx context.Context, source ceph.Source, monitors []ceph.Address, options Options) (*rados.Conn, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
	options.Mount = mountTimeout(ctx, options.Mount)
	conn, err := await(ctx, func() (*rados.Conn, error) { return open(source, monitors, options) }, discard)
	if !errors.Is(err, ceph.ErrUnreachable) {
		return conn, err
	}
	options.Mount = probeTimeout
	probes := alone(monitors)
	type outcome struct {
		conn *rados.Conn
		err  error
	}
	outcomes := make(chan outcome, len(probes))
	for _, address := range probes {
		go func() {
			conn, err := await(ctx, func() (*rados.Conn, error) {
				return open(source, []ceph.Address{address}, options)
			}, discard)
			outcomes <- outcome{conn, err}
		}()
	}
	var found *rados.Conn
	for range probes {
		o := <-outcomes
		switch {
		case o.err == nil && found == nil:
			found = o.conn
		case o.err == nil:
			discard(o.conn)
		case errors.Is(o.err, ceph.ErrWrongKey):
			err = o.err
		}
	}
	if found != nil {
		return found, nil
	}
	return nil, err
}

// alone lists the addresses to be tried one by one, those of unknown protocol by both.
func alone(monitors []ceph.Address) []ceph.Address {
	var addresses []ceph.Address
	for _, a := range monitors {
		if a.Protocol != ceph.Any {
			addresses = append(addresses, a)
			continue
		}
		for _, protocol := range []ceph.Protocol{ceph.V2, ceph.V1} {
			addresses = append(addresses, ceph.Address{Protocol: protocol, IP: a.IP, Port: a.Port})
		}
	}
	return addresses[:min(len(addresses), maxProbes)]
}

// mountTimeout leaves time for the probes before the deadline of ctx.
func mountTimeout(ctx context.Context, wish time.Duration) time.Duration {
	wish = orDefault(wish, defaultMount)
	deadline, ok := ctx.Deadline()
	if !ok {
		return wish
	}
	left := (time.Until(deadline) - probeReserve).Truncate(time.Second)
	return max(min(wish, left), time.Second)
}

// open makes one connection; it blocks for options.Mount at most.
func open(source ceph.Source, monitors []ceph.Address, options Options) (*rados.Conn, error) {
	conn, err := configure(source, monitors, options)
	if err == nil {
		err = conn.Connect()
		keepBlocking()
	}
	if err == nil {
		return conn, nil
	}
	// Such a conn hangs on commands and cannot be shut down; only its finalizer frees its
	// threads and files, and a small heap is collected every two minutes only.
	conn = nil
	runtime.GC()
	switch number(err) {
	case -int(syscall.EACCES):
		return nil, fmt.Errorf("%w: the user does not exist, has another key, has no mon caps%s", ceph.ErrWrongKey, orWeak(source))
	case -int(syscall.ETIMEDOUT):
		return nil, fmt.Errorf("%w within %s s", ceph.ErrUnreachable, seconds(options.Mount, defaultMount))
	}
	if -number(err) == int(syscall.EINVAL) && source.Key.Type() == ceph.AES256 {
		return nil, fmt.Errorf("%w: the key of client.%s is of type %s, which needs librados %s, or newer; `ceph auth rotate %s --key_type %s` makes another one, where the cluster allows that",
			ceph.ErrKeyType, source.UserID, ceph.AES256, ceph.StrongReleases, shell.Quote("client."+source.UserID), ceph.AES)
	}
	return nil, failure("connect", "", err)
}

// orWeak names another cause for which the mons refuse a user with such a key.
func orWeak(source ceph.Source) string {
	if source.Key.Type() != ceph.AES {
		return ""
	}
	return fmt.Sprintf(", or its key is of type %s, which a Ceph that was made with %s, or later, does not allow (`ceph auth rotate %s --key_type %s` makes another one)", ceph.AES, ceph.StrongReleases, shell.Quote("client."+source.UserID), ceph.AES256)
}

func configure(source ceph.Source, monitors []ceph.Address, options Options) (*rados.Conn, error) {
	blocking()
	conn, err := rados.NewConnWithUser(source.UserID)
	keepBlocking()
	if err != nil {
		return nil, err
	}
	// An empty configuration keeps librados off stderr; single options do not.
	if err := conn.ReadConfigFile("/dev/null"); err != nil {
		return nil, err
	}
	for _, option := range []struct{ name, value string }{
		{"mon_host", ceph.MonHost(monitors)},
		{"key", source.Key.Reveal()},
		{"client_mount_timeout", seconds(options.Mount, defaultMount)},
		{"rados_mon_op_timeout", seconds(options.Mon, defaultMon)},
		{"rados_osd_op_timeout", seconds(options.OSD, defaultOSD)},
	} {
		// A refused option would leave a default without any limit.
		if err := conn.SetConfigOption(option.name, option.value); err != nil {
			return nil, fmt.Errorf("setting option %s: %w", option.name, err)
		}
	}
	tune(conn, options)
	return conn, nil
}

func discard(conn *rados.Conn) {
	if conn != nil {
		conn.Shutdown()
	}
}

// await runs call on its own goroutine. When ctx ends first, it returns ErrTimeout, and
// late gets what call still returns.
func await[T any](ctx context.Context, call func() (T, error), late func(T)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := call()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		go func() { late((<-done).value) }()
		var none T
		return none, fmt.Errorf("%w: %w", ceph.ErrTimeout, context.Cause(ctx))
	}
}

// seconds rounds up to what librados accepts: it refuses fractions and then waits for its
// own default, which is 300 s or for ever.
func seconds(wish, otherwise time.Duration) string {
	if wish == unlimited {
		return "0"
	}
	wish = orDefault(wish, otherwise)
	return strconv.Itoa(int((wish + time.Second - 1) / time.Second))
}

func orDefault(wish, otherwise time.Duration) time.Duration {
	if wish <= 0 {
		return otherwise
	}
	return wish
}
