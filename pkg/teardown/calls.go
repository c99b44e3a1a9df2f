package teardown

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

const (
	// CallLimit is how long one question may take. A mgr that restarts answers again within seconds; its
	// volumes module may be busy with purges for longer.
	CallLimit = 2 * time.Minute
	// deadClient is how long Ceph takes to drop a client that has died, and some more.
	deadClient = time.Minute
	lookAgain  = 3 * time.Second
)

// Limited gives a call a deadline of its own, CallLimit from now.
func Limited[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	return call(ctx)
}

// Call is Limited for what answers nothing.
func Call(ctx context.Context, call func(context.Context) error) error {
	_, err := Limited(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// Each runs work for 0 … n-1, so many at a time. After an error, which it returns, nothing more is begun;
// nor is it after the end of ctx, whose cause it returns.
func Each(ctx context.Context, workers, n int, work func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range max(1, min(workers, n)) {
		group.Go(func() {
			for i := range next {
				if err := work(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// Wait waits for d. It returns early, with an error, when ctx ends.
func Wait(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	case <-timer.C():
		return nil
	}
}

// AwaitDead calls look until nobody is left of whom it must look again, or until Ceph has dropped those
// that had died before: who is there even then lives. Its error is that of look, or the end of ctx.
func AwaitDead(ctx context.Context, c clock.Clock, look func() (again bool, err error)) error {
	deadline := c.Now().Add(deadClient)
	for {
		again, err := look()
		if err != nil || !again || c.Now().After(deadline) {
			return err
		}
		if err := Wait(ctx, c, lookAgain); err != nil {
			return err
		}
	}
}
