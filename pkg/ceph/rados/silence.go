//go:build cgo

package rados

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ceph/go-ceph/rados"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

const (
	// defaultSilence is far above what an OSD takes that works.
	defaultSilence = 10 * time.Second
	// heardFor is how long an answer proves that the user has caps: as long as cephx's tickets last.
	heardFor = time.Hour
	// refusedFor is how soon the OSDs are tried again, should caps have been given meanwhile.
	refusedFor = time.Minute
)

// silence tells OSDs that refuse from OSDs that are out of order: since Ceph 18, an OSD does not
// answer a user without any caps for OSDs, which older ones refuse.
type silence struct {
	// patience is how long an OSD may be silent.
	patience time.Duration

	mu             sync.Mutex
	heard, refused time.Time
}

func (s *silence) note(answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered {
		s.heard, s.refused = time.Now(), time.Time{}
	}
}

func (s *silence) refuses() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.refused) < refusedFor
}

// conclude takes silence for a refusal, unless an OSD has answered this connection lately.
func (s *silence) conclude() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.heard) < heardFor {
		return false
	}
	s.refused = time.Now()
	return true
}

// callOSD is call for work that asks OSDs. A silence while all placement groups are active is a
// refusal, ErrDenied.
func callOSD[T any](ctx context.Context, c *Conn, work func(*rados.Conn) (T, error)) (T, error) {
	var none T
	if c.silence.refuses() {
		return none, c.withoutCaps()
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := call(ctx, c, func(conn *rados.Conn) (T, error) {
			value, err := work(conn)
			c.silence.note(fromOSD(err))
			return value, err
		})
		done <- outcome{value, err}
	}()
	timer := time.NewTimer(c.silence.patience)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
	}
	if c.silence.refuses() || c.allActive(ctx) && c.silence.conclude() {
		return none, c.withoutCaps()
	}
	o := <-done
	return o.value, o.err
}

// withoutCaps is why an OSD does not answer.
func (c *Conn) withoutCaps() error {
	return fmt.Errorf("%w: no OSD answers client.%s, although all placement groups are active: it has no caps for OSDs", ceph.ErrDenied, c.source.UserID)
}

// fromOSD says whether an OSD has answered; that a pool does not exist is what the mons say.
func fromOSD(err error) bool {
	var refused *ceph.CommandError
	return err == nil || !errors.Is(err, ceph.ErrTimeout) && errors.As(err, &refused) && refused.Command != openPool
}

// openPool is the step that asks no OSD.
const openPool = "open pool"

// allActive asks the mons whether all OSDs that are needed work. It waits for none of the calls that
// are under way.
func (c *Conn) allActive(ctx context.Context) bool {
	command, err := arguments{}.encode("status")
	if err != nil || c.enter() != nil {
		return false
	}
	output, err := await(ctx, func() ([]byte, error) {
		defer c.leave()
		output, _, err := c.conn.MonCommand(command)
		return output, err
	}, func([]byte) {})
	if err != nil {
		return false
	}
	active, err := ceph.ParseAllActive(output)
	return err == nil && active
}
