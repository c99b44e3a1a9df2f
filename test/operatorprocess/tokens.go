package operatorprocess

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// renewalAge is at what part of its life a kubelet replaces a token (pkg/kubelet/token/token_manager.go).
	renewalAge = 0.8
	// renewalLimit is how long that may take, and how long a token is kept that could not be replaced.
	renewalLimit = 10 * time.Second
)

// tokens are those that a pod has of its ServiceAccount in its volumes.
type tokens struct {
	config Config

	mu sync.Mutex
	// due is when that of a volume is.
	due map[string]time.Time
}

func newTokens(config Config, volumes map[string]volume) *tokens {
	out := &tokens{config: config, due: map[string]time.Time{}}
	for name, v := range volumes {
		if !v.renewal.IsZero() {
			out.due[name] = v.renewal
		}
	}
	return out
}

// renew replaces those that are due, and returns when the next one is.
func (t *tokens) renew(ctx context.Context) (next time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, renewalLimit)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.config.Pod.Spec.Volumes {
		due, has := t.due[v.Name]
		if has && time.Now().After(due) {
			fresh, failed := t.config.volume(ctx, v)
			if failed == nil && !fresh.renewal.After(time.Now()) {
				failed = fmt.Errorf("the token of ServiceAccount %s has expired when it comes", t.config.Pod.Spec.ServiceAccountName)
			}
			if failed == nil {
				_, failed = fresh.write(t.config.Dir, v.Name)
			}
			if due = fresh.renewal; failed != nil {
				due, err = time.Now().Add(renewalLimit), errors.Join(err, failed)
			}
			t.due[v.Name] = due
		}
		if has && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next, err
}

// keep renews them until done. One that cannot be renewed is kept, as a kubelet does.
func (t *tokens) keep(done <-chan struct{}) {
	for {
		next, _ := t.renew(context.Background())
		if next.IsZero() {
			return
		}
		select {
		case <-done:
			return
		case <-time.After(time.Until(next)):
		}
	}
}
