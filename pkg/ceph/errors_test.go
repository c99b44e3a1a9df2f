package ceph

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
)

func TestNoAnswer(t *testing.T) {
	tests := map[string]struct {
		reason string
		err    error
		want   bool
	}{
		"Well":        {"it has answered", nil, false},
		"Refused":     {"that is an answer", &CommandError{Command: "osd pool create", Errno: -int(syscall.EACCES)}, false},
		"NotFound":    {"so is this", fmt.Errorf("pool %q: %w", "a", ErrNotFound), false},
		"NotReady":    {"it asks to be asked again", ErrNotReady, false},
		"WrongKey":    {"a mon has answered", ErrWrongKey, false},
		"Late":        {"nobody knows whether it was done", fmt.Errorf("pool %q: %w", "a", ErrTimeout), true},
		"MgrTimedOut": {"the mons answer for a mgr that does not", &CommandError{Command: "fs subvolume ls", Errno: int(syscall.ETIMEDOUT)}, true},
		"Unreachable": {"nobody was asked", ErrUnreachable, true},
		"Closed":      {"the connection was replaced under the call", ErrClosed, true},
		"Interrupted": {"the process ends", context.Canceled, true},
		"OutOfTime":   {"the caller has waited long enough", fmt.Errorf("reading: %w", context.DeadlineExceeded), true},
		"OneOfTwo":    {"what is known is not all", errors.Join(ErrDenied, ErrTimeout), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := NoAnswer(tc.err); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
