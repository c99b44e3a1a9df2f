package uninstall

import (
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
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
