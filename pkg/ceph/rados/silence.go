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

// lasts waits until OSDs have answered, which is false, or are known not to. Placement groups that are
// made, split or moved are not active for a moment, as those of each pool that the mgr gives more of them:
// that explains a silence, but not its going on. So where some are not active, two looks in a row must
// find all active before the silence is a refusal.
func (s *silence) lasts(answered <-chan struct{}, active func() bool) bool {
	ticker := time.NewTicker(s.patience)
	defer ticker.Stop()
	for before := true; ; {
		select {
		case <-answered:
			return false
		case <-ticker.C:
		}
		if s.refuses() {
			return true
		}
		now := active()
		if now && before && s.conclude() {
			return true
		}
		before = now
		// librados gives up soon.
		ticker.Reset(s.patience / 2)
	}
}

// settling is how long it may take until all placement groups are active again that nothing is wrong with.
const settling = 15 * time.Second

// settles looks until it sees what it looks for, at most for settling.
func settles(ctx context.Context, look func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for !look(ctx) {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// callOSD is call for work that asks OSDs. A silence while all placement groups are active is a
// refusal, ErrUnheard.
func callOSD[T any](ctx context.Context, c *Conn, work func(*rados.Conn) (T, error)) (T, error) {
	var none T
	if c.silence.refuses() {
		return none, c.withoutCaps()
	}
	var outcome struct {
		value T
		err   error
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		outcome.value, outcome.err = call(ctx, c, func(conn *rados.Conn) (T, error) {
			value, err := work(conn)
			c.silence.note(fromOSD(err))
			return value, err
		})
	}()
	var paused string
	if c.silence.lasts(answered, func() (active bool) {
		active, paused = c.allActive(ctx)
		return active
	}) {
		return none, c.withoutCaps()
	}
	if paused != "" && errors.Is(outcome.err, ceph.ErrTimeout) {
		return none, fmt.Errorf("%w: Ceph has the flags %s, with which OSDs are asked nothing until `ceph osd unpause`", outcome.err, paused)
	}
	return outcome.value, outcome.err
}

// withoutCaps is why an OSD does not answer.
func (c *Conn) withoutCaps() error {
	return fmt.Errorf("%w: no OSD answers client.%s, although all placement groups are active: it has no caps for OSDs, or ports 6800-7568 of the OSDs are not reached", ceph.ErrUnheard, c.source.UserID)
}

// fromOSD says whether an OSD has answered; that a pool does not exist is what the mons say.
func fromOSD(err error) bool {
	var refused *ceph.CommandError
	return err == nil || !errors.Is(err, ceph.ErrTimeout) && errors.As(err, &refused) && refused.Command != openPool
}

// openPool is the step that asks no OSD.
const openPool = "open pool"

// allActive asks the mons whether all OSDs that are needed work. It waits for none of the calls that
// are under way. paused is as in ceph.ParseAllActive.
func (c *Conn) allActive(ctx context.Context) (active bool, paused string) {
	command, err := arguments{}.encode("status")
	if err != nil || c.enter() != nil {
		return false, ""
	}
	output, err := await(ctx, func() ([]byte, error) {
		defer c.leave()
		output, _, err := c.conn.MonCommand(command)
		return output, err
	}, func([]byte) {})
	if err != nil {
		return false, ""
	}
	active, paused, err = ceph.ParseAllActive(output)
	return err == nil && active, paused
}
