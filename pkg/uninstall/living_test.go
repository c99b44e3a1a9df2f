package uninstall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// hasty is a clock on which whatever is waited for passes at once, and then happens what follows.
type hasty struct {
	*clocktesting.FakeClock
	follows func()
}

func newHasty() *hasty {
	return &hasty{FakeClock: clocktesting.NewFakeClock(time.Unix(0, 0)), follows: func() {}}
}

func (h *hasty) NewTimer(d time.Duration) clock.Timer {
	timer := h.FakeClock.NewTimer(d)
	h.Step(d)
	h.follows()
	return timer
}

// unheard is a connection to a Ceph 18 or later, whose OSDs do not answer whom older ones refuse.
type unheard struct{ Ceph }

func (u unheard) Watchers(ctx context.Context, pool, object string) ([]ceph.Watcher, error) {
	out, err := u.Ceph.Watchers(ctx, pool, object)
	if errors.Is(err, ceph.ErrDenied) {
		err = fmt.Errorf("%w: no OSD answers", ceph.ErrUnheard)
	}
	return out, err
}

// TestMayNotAsk: a user without caps for OSDs never learns whether somebody else lives by the marks, however often it asks.
func TestMayNotAsk(t *testing.T) {
	for release, as := range map[string]func(Ceph) Ceph{
		"17": func(c Ceph) Ceph { return c },
		"18": func(c Ceph) Ceph { return unheard{c} },
	} {
		s, out := newScene(t)
		s.infrastructure()
		s.ceph.AddUser("narrow")
		s.ceph.SetCaps("narrow", ceph.Caps{Mon: "allow *"})
		s.secret(s.ceph.Keyring("narrow"))
		s.state()
		dial := s.o.Dial
		s.o.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
			conn, err := dial(ctx, source)
			if err != nil {
				return nil, err
			}
			return as(conn), nil
		}
		for range 2 {
			err := Run(t.Context(), s.o)
			if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), "--ceph-conf and --keyring of an administrator of Ceph") || !strings.Contains(err.Error(), "--leave-ceph") {
				t.Errorf("Ceph %s: it does not say what helps: %v", release, err)
			}
			if !s.ceph.Pools()[0].NoDelete || !s.left("Secret", driver.RBD.ConfigSecret()) {
				t.Errorf("Ceph %s: released or removed, though nobody knows who lives by it", release)
			}
		}
		s.byHand()
		if err := Run(t.Context(), s.o); err != nil || s.ceph.Pools()[0].NoDelete || !strings.Contains(out.String(), "Removed.\n") {
			t.Errorf("Ceph %s: what it says does not help: %v\n%s", release, err, out)
		}
	}
}
