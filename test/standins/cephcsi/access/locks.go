package access

import (
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Locks hold names of requests and volumes that a call works on; a second one is refused, and
// comes again.
type Locks struct {
	mu   sync.Mutex
	held map[string]bool
}

// Hold returns what lets the name go.
func (l *Locks) Hold(name string) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[name] {
		return nil, status.Errorf(codes.Aborted, "an operation with the given Volume ID %s already exists", name)
	}
	if l.held == nil {
		l.held = map[string]bool{}
	}
	l.held[name] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
	}, nil
}
