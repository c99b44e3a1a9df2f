package operator

import "sync"

// turns is a lock that those who are urgent get next.
type turns struct {
	mu    sync.Mutex
	freed sync.Cond
	taken bool
	// urgent is how many of those wait.
	urgent int
}

func newTurns() *turns {
	t := &turns{}
	t.freed.L = &t.mu
	return t
}

// take waits for the turn; call what it returns to end it.
func (t *turns) take(urgent bool) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if urgent {
		t.urgent++
	}
	for t.taken || !urgent && t.urgent > 0 {
		t.freed.Wait()
	}
	if urgent {
		t.urgent--
	}
	t.taken = true
	return t.end
}

func (t *turns) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = false
	t.freed.Broadcast()
}
