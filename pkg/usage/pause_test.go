package usage

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestPause(t *testing.T) {
	now := time.Unix(1000, 0)
	c := clocktesting.NewFakePassiveClock(now)
	var p pause
	if got := p.left(c, 2*time.Second); got != 0 {
		t.Errorf("the first one waits %s", got)
	}
	c.SetTime(now.Add(500 * time.Millisecond))
	if got := p.left(c, 2*time.Second); got != 1500*time.Millisecond {
		t.Errorf("half a second later it waits %s, want 1.5s", got)
	}
	c.SetTime(now.Add(2 * time.Second))
	if got := p.left(c, 2*time.Second); got != 0 {
		t.Errorf("after the pause it waits %s", got)
	}
	if got := p.left(c, 2*time.Second); got != 2*time.Second {
		t.Errorf("then a pause starts anew: got %s", got)
	}
}
