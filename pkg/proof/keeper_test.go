package proof

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/events"
	clocktesting "k8s.io/utils/clock/testing"

	ctrl "github.com/openshift/ceph-csi-driver-operator/pkg/controller"
)

type rig struct {
	*Keeper
	clock  *clocktesting.FakeClock
	look   Look
	fail   error
	cached map[string]uint64
	reads  int
}

func newRig() *rig {
	r := &rig{clock: clocktesting.NewFakeClock(minute(0)), look: seen(0, 1, "a"), cached: map[string]uint64{}}
	r.Keeper = New(Config{
		Env:    ctrl.Env{Clock: r.clock, Recorder: events.NewInMemoryRecorder("test", r.clock)},
		Read:   func(context.Context) (Look, error) { r.reads++; return r.look, r.fail },
		Cached: func() map[string]uint64 { return r.cached },
		Apart:  func() time.Duration { return apart },
	})
	return r
}

// at runs the controller once, some minutes after the beginning.
func (r *rig) at(t *testing.T, n int) {
	t.Helper()
	r.clock.SetTime(minute(n))
	recorder := events.NewInMemoryRecorder("test", r.clock)
	if err := r.Sync(t.Context(), factory.NewSyncContext("test", recorder)); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) expect(t *testing.T, reason string, want error, reads int) {
	t.Helper()
	if _, err := r.Since(minute(0)); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", reason, err, want)
	}
	if r.reads != reads {
		t.Errorf("%s: %d looks were taken, want %d", reason, r.reads, reads)
	}
}

func TestLooksAreTakenWhileSomethingWaits(t *testing.T) {
	r := newRig()
	r.at(t, 0)
	r.expect(t, "nothing waits", ErrNotYet, 0)
	r.Wait("pools", true)
	r.at(t, 0)
	r.expect(t, "the first look is taken at once", ErrNotYet, 1)
	r.Wait("users", true)
	r.at(t, 9)
	r.expect(t, "no other one before its time", ErrNotYet, 1)
	r.at(t, 10)
	r.expect(t, "the second", nil, 2)
	if at, _ := r.Get(); at != minute(10) {
		t.Errorf("who waits is woken by %v", at)
	}
	r.Wait("pools", false)
	r.at(t, 20)
	r.expect(t, "the users still wait", nil, 3)
	r.Wait("users", false)
	r.at(t, 30)
	r.expect(t, "nothing waits any more", ErrNotYet, 3)
	r.Wait("pools", true)
	r.at(t, 31)
	r.expect(t, "old looks prove nothing", ErrNotYet, 4)
}

func TestFailedLookBreaksTheChain(t *testing.T) {
	r, boom := newRig(), errors.New("boom")
	r.Wait("pools", true)
	r.at(t, 0)
	r.fail = boom
	r.at(t, 10)
	r.expect(t, "a list failed", boom, 2)
	r.fail = nil
	r.at(t, 20)
	r.expect(t, "one after a failure", ErrNotYet, 3)
	r.at(t, 30)
	r.expect(t, "two after it", nil, 4)
}

func TestNothingIsProvenWhileTheDataIsOlderThanBefore(t *testing.T) {
	r := newRig()
	r.cached = map[string]uint64{"volumes": 7}
	r.at(t, 0)
	r.cached = map[string]uint64{"volumes": 5}
	r.Wait("pools", true)
	for n := range 3 {
		r.at(t, 10*(n+1))
		r.expect(t, "yesterday's etcd", ErrBack, 0)
	}
	r.cached = map[string]uint64{"volumes": 8}
	r.at(t, 40)
	r.expect(t, "what was lost is long behind", ErrNotYet, 1)
	r.at(t, 50)
	r.expect(t, "two looks after that", nil, 2)
	r.cached = map[string]uint64{"volumes": 7}
	r.at(t, 51)
	r.expect(t, "back again, between the looks", ErrBack, 2)
	r.cached = map[string]uint64{"volumes": 9}
	r.at(t, 60)
	r.expect(t, "the looks of before prove nothing", ErrNotYet, 3)
}
