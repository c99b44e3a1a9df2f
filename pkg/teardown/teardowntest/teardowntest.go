// Package teardowntest has what the fakes of images and of subvolumes are made of: ceph-csi's handles,
// Ceph's errors, a process that is killed, and time that passes.
package teardowntest

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// ErrKilled is what the calls of a process that was killed end with.
var ErrKilled = errors.New("killed")

var last atomic.Int64

// UUID returns another one each time.
func UUID() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", last.Add(1)) }

// Handle is that of a volume or snapshot in the pool or filesystem with ID 1.
func Handle(uuid string) string {
	return "0001-0024-5c0e8e4a-0000-4000-8000-000000000000-0000000000000001-" + uuid
}

// Errno is Ceph's answer to a command that failed.
func Errno(command string, n syscall.Errno) error {
	return &ceph.CommandError{Command: command, Errno: -int(n)}
}

// StepWhileWaiting lets time pass whenever somebody waits for it, until it is stopped.
func StepWhileWaiting(c *clocktesting.FakeClock, step time.Duration) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				if c.HasWaiters() {
					c.Step(step)
				}
				runtime.Gosched()
			}
		}
	}()
	return func() { close(done) }
}
