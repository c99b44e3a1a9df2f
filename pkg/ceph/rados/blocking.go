//go:build cgo

package rados

import (
	"sync"
	"syscall"
)

// blocking says whether writes to stderr waited before librados was there.
var blocking = sync.OnceValue(func() bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(syscall.Stderr), syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_NONBLOCK == 0
})

// keepBlocking takes back what librados does to a stderr that is a pipe: writes would not wait any
// more but fail, those to stdout too where both are the same pipe. Nothing of librados' own is
// written there.
func keepBlocking() {
	if blocking() {
		_ = syscall.SetNonblock(syscall.Stderr, false)
	}
}
