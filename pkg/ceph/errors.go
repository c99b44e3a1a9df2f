package ceph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// What a caller decides on. Every error of a connection wraps one of them, or none when
// Ceph answered something that nobody expected.
var (
	// ErrTimeout says that Ceph did not answer in time, or that the context ended first.
	ErrTimeout = errors.New("no answer in time")
	// ErrDenied says that the user lacks the caps for a command, or that Ceph forbids it.
	ErrDenied = errors.New("access denied")
	// ErrUnheard says that no OSD answers the user: it has no caps for OSDs, their ports are not reached, or the mons
	// have not noticed yet that OSDs are down. It is ErrDenied, too.
	ErrUnheard = fmt.Errorf("%w", ErrDenied)
	// ErrNotFound says that the pool, filesystem or user does not exist.
	ErrNotFound = errors.New("not found")
	// ErrRetained says that a subvolume was removed and only its snapshots are left, of which Ceph
	// tells nothing. It is ErrNotFound, too.
	ErrRetained = errors.New("only snapshots retained")
	// ErrNotReady says that a clone in flight keeps a subvolume or snapshot busy.
	ErrNotReady = errors.New("not ready")
	// ErrNotEmpty says that something still has what must go first, such as snapshots.
	ErrNotEmpty = errors.New("not empty")
	// ErrNotLoaded says that the mgr has not loaded the module that serves a command: for some seconds
	// after it was started, because somebody disabled the module, or because Python cannot load it.
	ErrNotLoaded = errors.New("module of the mgr not loaded")
	// ErrNoCommand says that the mons are too old to know a command, whoever sends it.
	ErrNoCommand = errors.New("command not known")
	// ErrUnreachable says that none of the mon addresses led to a connection.
	ErrUnreachable = errors.New("no mon reachable")
	// ErrWrongKey says that a mon answered and refused the user: unknown to it, with
	// another key, or without mon caps. Ceph does not say which.
	ErrWrongKey = errors.New("user or key refused")
	// ErrKeyType says that librados does not know the type of the user's key.
	ErrKeyType = errors.New("type of key not known")
	// ErrOtherCluster says that the mons belong to another Ceph cluster than declared.
	ErrOtherCluster = errors.New("another Ceph cluster")
	// ErrNoActiveMDS says that a rank of a filesystem has no active MDS, so that its commands must
	// not be sent.
	ErrNoActiveMDS = errors.New("no active MDS for every rank")
	// ErrChanged says that somebody else changed what was to be changed since it was read.
	ErrChanged = errors.New("changed by somebody else meanwhile")
	// ErrClosed says that the connection was closed by its owner.
	ErrClosed = errors.New("connection is closed")
)

// NoAnswer says that Ceph has neither done nor refused what it was asked, so that nothing is known of it,
// nor is there any use in asking more: it is silent, or the connection or the caller has ended.
// pkg/connection tells of outages; nobody else needs to.
func NoAnswer(err error) bool {
	silence := []error{ErrTimeout, ErrUnreachable, ErrClosed, context.DeadlineExceeded, context.Canceled}
	return slices.ContainsFunc(silence, func(target error) bool { return errors.Is(err, target) })
}

// CommandError is Ceph's refusal of a command. errors.Is tells its class.
type CommandError struct {
	// Command is the command's prefix, such as "osd pool create".
	Command string
	// Errno is what librados returned: negative from mons, for the mgr's time-outs positive.
	Errno int
	// Status is Ceph's own text; often empty.
	Status string
}

// Error names the command, Ceph's text and the error number.
func (e *CommandError) Error() string {
	number := syscall.Errno(e.number())
	if e.Status == "" {
		return fmt.Sprintf("ceph %s: %s (errno %d)", e.Command, number.Error(), e.Errno)
	}
	return fmt.Sprintf("ceph %s: %s (errno %d, %s)", e.Command, e.Status, e.Errno, number.Error())
}

// Is matches ErrTimeout, ErrDenied, ErrNotFound, ErrNotReady, ErrNotEmpty, ErrNotLoaded and ErrNoCommand by the
// error number; the last two also by Ceph's text, as it answers with these numbers to other mistakes,
// too. So it does ErrRetained.
func (e *CommandError) Is(target error) bool {
	switch syscall.Errno(e.number()) {
	case syscall.ETIMEDOUT:
		if strings.Contains(e.Status, "did not initialize in time") {
			return target == ErrNotLoaded // The mgr has answered, and does so at once.
		}
		return target == ErrTimeout
	case syscall.EACCES, syscall.EPERM:
		return target == ErrDenied
	case syscall.ENOENT:
		return target == ErrNotFound || target == ErrRetained && strings.Contains(e.Status, "only snapshots retained")
	case syscall.EAGAIN:
		return target == ErrNotReady
	case syscall.ENOTEMPTY:
		return target == ErrNotEmpty
	case syscall.EINVAL:
		return target == ErrNotLoaded && strings.Contains(e.Status, "No handler found") ||
			target == ErrNoCommand && strings.Contains(e.Status, "command not known")
	case syscall.EOPNOTSUPP:
		return target == ErrNotLoaded && strings.Contains(e.Status, "is not enabled/loaded")
	}
	return false
}

func (e *CommandError) number() int {
	if e.Errno < 0 {
		return -e.Errno
	}
	return e.Errno
}

// Errno is the number with which Ceph refused a command, without its sign; 0 where an error is
// of another kind.
func Errno(err error) syscall.Errno {
	var refused *CommandError
	if !errors.As(err, &refused) {
		return 0
	}
	return syscall.Errno(refused.number())
}
