package ceph

import (
	"errors"
	"syscall"
)

// Errno is the number with which Ceph refused a command, without its sign; 0 where an error is
// of another kind.
func Errno(err error) syscall.Errno {
	var refused *CommandError
	if !errors.As(err, &refused) {
		return 0
	}
	return syscall.Errno(refused.number())
}
