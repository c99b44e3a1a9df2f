//go:build cgo

package rados

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// held is what this process holds.
type held struct{ connections, threads, files, goroutines int }

func hold(t *testing.T) held {
	t.Helper()
	threads, files := resources(t)
	h := held{threads: threads, files: files, goroutines: runtime.NumGoroutine()}
	fds, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	for _, fd := range fds {
		// One that was closed meanwhile is no connection.
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			h.connections++
		}
	}
	return h
}

// within says whether no more is held than before, but for what ends by itself a little later.
func (h held) within(before held) bool {
	return h.connections <= before.connections+2 && h.threads <= before.threads+12 &&
		h.files <= before.files+10 && h.goroutines <= before.goroutines+3
}

// atOnce runs work many times at the same time, and waits for all.
func atOnce(times int, work func()) {
	var all sync.WaitGroup
	for range times {
		all.Go(work)
	}
	all.Wait()
}

// testManyFailures: whatever fails two hundred times in a row, and however, leaves nothing.
func testManyFailures(t *testing.T, c *cephdaemons.Ceph) {
	refused := source(t, c)
	refused.Key = wrongKey()
	nobody, silent := refused, refused
	nobody.Monitors = []ceph.Address{deadAddress(t)}
	silent.Monitors = []ceph.Address{blackHole(t)}
	// One after the other what fails at once; what waits for an answer, many at a time.
	kinds := []struct {
		name              string
		source            ceph.Source
		rounds, atOneTime int
		want              error
	}{
		{"Refused", refused, 200, 1, ceph.ErrWrongKey},
		{"Nobody", nobody, 4, 50, ceph.ErrUnreachable},
		{"Silent", silent, 4, 50, ceph.ErrUnreachable},
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			fail := func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if _, err := Dial(ctx, k.source, Options{Mount: time.Second}); !errors.Is(err, k.want) {
					t.Errorf("got %v, want %v", err, k.want)
				}
			}
			// Threads that Go makes for calls into librados are kept by Go, and used again.
			atOnce(k.atOneTime, fail)
			withoutCollector(t)
			runtime.GC()
			before := hold(t)
			for range k.rounds {
				atOnce(k.atOneTime, fail)
			}
			eventually(t, func() bool { return hold(t).within(before) })
			t.Logf("200 failures: %+v became %+v", before, hold(t))
		})
	}
}

// testSilentMgr: a mgr that never answers holds one connection, however often it is asked.
func testSilentMgr(t *testing.T, c *cephdaemons.Ceph) {
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	check(t, conn.EnsureSubvolumeGroup(t.Context(), cephdaemons.Filesystem, "silent"))
	check(t, c.PauseMgr())
	ask := func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := conn.SubvolumeGroups(ctx, cephdaemons.Filesystem); !errors.Is(err, ceph.ErrTimeout) {
			t.Errorf("got %v, want %v", err, ceph.ErrTimeout)
		}
	}
	ask()
	before := hold(t)
	for range 20 {
		ask()
	}
	atOnce(20, ask)
	during := hold(t)
	// A connection holds four sockets and a dozen threads.
	if !during.within(before) {
		t.Errorf("40 questions to a silent mgr: %+v became %+v", before, during)
	}
	check(t, c.ResumeMgr())
	check(t, conn.EnsureSubvolumeGroup(t.Context(), cephdaemons.Filesystem, "silent"))
	eventually(t, func() bool { return hold(t).within(before) })
	t.Logf("held %+v, then %+v, at the end %+v", before, during, hold(t))
}
