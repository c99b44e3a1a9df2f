//go:build cgo

package rados

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// TestHuntsSteadily: librados must not look for mons ever more rarely.
func TestHuntsSteadily(t *testing.T) {
	s := ceph.Source{Monitors: []ceph.Address{deadAddress(t)}, Credentials: ceph.Credentials{UserID: "admin", Key: wrongKey()}}
	conn, err := configure(s, s.Monitors, quick)
	check(t, err)
	got, err := conn.GetConfigOption("mon_client_hunt_interval_max_multiple")
	check(t, err)
	if got != "1.000000" {
		t.Errorf("got %q", got)
	}
}

// TestThreads: a process that asks little pays for as few threads as librados can do with, and one
// that removes volumes as fast as it can has what librados finds right.
func TestThreads(t *testing.T) {
	s := ceph.Source{Monitors: []ceph.Address{deadAddress(t)}, Credentials: ceph.Credentials{UserID: "admin", Key: wrongKey()}}
	for option, want := range map[string]map[int]string{
		"ms_async_op_threads":   {0: "1", maxCalls: "1", maxCalls + 1: "3"},
		"librados_thread_count": {0: "1", maxCalls: "1", maxCalls + 1: "2"},
	} {
		for calls, threads := range want {
			conn, err := configure(s, s.Monitors, Options{Mount: time.Second, Calls: calls})
			check(t, err)
			got, err := conn.GetConfigOption(option)
			check(t, err)
			if got != threads {
				t.Errorf("%s is %s with %d calls, want %s", option, got, calls, threads)
			}
		}
	}
}

// TestStderrWaits: librados makes a stderr that is a pipe non-blocking, and a stdout with it.
func TestStderrWaits(t *testing.T) {
	reader, writer, err := os.Pipe()
	check(t, err)
	defer reader.Close()
	defer writer.Close()
	check(t, syscall.SetNonblock(int(writer.Fd()), false))
	restore := redirect(t, writer)
	s := ceph.Source{Monitors: []ceph.Address{deadAddress(t)}, Credentials: ceph.Credentials{UserID: "admin", Key: wrongKey()}}
	_, err = configure(s, s.Monitors, quick)
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(syscall.Stderr), syscall.F_GETFL, 0)
	restore()
	check(t, err)
	if errno != 0 || flags&syscall.O_NONBLOCK != 0 {
		t.Errorf("flags %#o, errno %d", flags, errno)
	}
}
