//go:build cgo

package rados

import (
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// wrongKey is a valid key that no cluster knows.
func wrongKey() ceph.Key { return cephtest.New().Source().Key }

func redirect(t *testing.T, file *os.File) (restore func()) {
	t.Helper()
	saved, err := syscall.Dup(2)
	check(t, err)
	check(t, syscall.Dup3(int(file.Fd()), 2, 0))
	return func() {
		check(t, syscall.Dup3(saved, 2, 0))
		check(t, syscall.Close(saved))
	}
}

// TestBlackHole needs no Ceph: a mon that never answers.
func TestBlackHole(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begin := time.Now()
	hole := ceph.Source{
		Monitors:    []ceph.Address{blackHole(t)},
		Credentials: ceph.Credentials{UserID: "admin", Key: wrongKey()},
	}
	_, err := Dial(ctx, hole, Options{})
	if !errors.Is(err, ceph.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, ceph.ErrTimeout)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("the deadline of 0.5 s took %s", took)
	}
	patient, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err = Dial(patient, hole, Options{Mount: time.Second}); !errors.Is(err, ceph.ErrUnreachable) {
		t.Errorf("got %v, want %v", err, ceph.ErrUnreachable)
	}
}

// TestUndecodableKey: librados would print it three times.
func TestUndecodableKey(t *testing.T) {
	key := ceph.NewKey(wrongKey().Reveal()[:30])
	text := stderr(t, func() {
		_, err := Dial(t.Context(), ceph.Source{
			Monitors:    []ceph.Address{deadAddress(t)},
			Credentials: ceph.Credentials{UserID: "admin", Key: key},
		}, quick)
		if !errors.Is(err, ceph.ErrWrongKey) {
			t.Errorf("got %v, want %v", err, ceph.ErrWrongKey)
			return
		}
		mustNotShow(t, err.Error(), key)
	})
	if text != "" {
		t.Errorf("stderr has %q", text)
	}
}

// testFailuresLeaveNothing: librados keeps the threads and files of each failed connection
// until its finalizer runs.
func testFailuresLeaveNothing(t *testing.T, c *cephdaemons.Ceph) {
	s := source(t, c)
	s.Key = wrongKey()
	fail := func() {
		if _, err := Dial(t.Context(), s, quick); !errors.Is(err, ceph.ErrWrongKey) {
			t.Fatalf("got %v, want %v", err, ceph.ErrWrongKey)
		}
	}
	fail()
	withoutCollector(t)
	threads, files := resources(t)
	text := stderr(t, func() {
		for range 50 {
			fail()
		}
	})
	// One failed connection holds 4 threads and 9 files; the last one may still be there.
	eventually(t, func() bool {
		threadsNow, filesNow := resources(t)
		return threadsNow <= threads+10 && filesNow <= files+10
	})
	if text != "" {
		t.Errorf("stderr has %q", text)
	}
}

// eventually polls a condition that another thread brings about.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(time.Minute)
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline:
			threads, files := resources(t)
			t.Fatalf("not reached: %d threads, %d files", threads, files)
		}
	}
}

// testManyCallsInAnOutage: a silent Ceph holds a bounded number of threads, every call keeps
// its deadline, and the connection works again afterwards.
func testManyCallsInAnOutage(t *testing.T, c *cephdaemons.Ceph) {
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	check(t, c.Pause())
	before, _ := resources(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	results := make(chan error, 100)
	for range cap(results) {
		go func() {
			_, err := conn.Pools(ctx)
			results <- err
		}()
	}
	for range cap(results) {
		if err := <-results; !errors.Is(err, ceph.ErrTimeout) {
			t.Errorf("got %v, want %v", err, ceph.ErrTimeout)
		}
	}
	if threads, _ := resources(t); threads > before+20 {
		t.Errorf("100 calls took the threads from %d to %d", before, threads)
	}
	check(t, c.Resume())
	if _, err := conn.Pools(t.Context()); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

// testCloseUnderCall: librados must not be shut down under a call, but after it.
func testCloseUnderCall(t *testing.T, c *cephdaemons.Ceph) {
	withoutCollector(t)
	before, _ := resources(t)
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	check(t, c.Pause())
	done := make(chan error)
	go func() {
		_, err := conn.MonMap(t.Context())
		done <- err
	}()
	eventually(t, func() bool {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		return conn.calls > 0
	})
	conn.Close()
	check(t, c.Resume())
	if err := <-done; err != nil {
		t.Errorf("the call under way got %v", err)
	}
	eventually(t, func() bool {
		threads, _ := resources(t)
		return threads <= before+8
	})
	runtime.KeepAlive(conn)
}

// withoutCollector leaves only what the code itself asks of the garbage collector.
func withoutCollector(t *testing.T) {
	t.Helper()
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
}

// testLateAnswerOfMgr: what the mgr answers after everybody has gone does no harm.
func testLateAnswerOfMgr(t *testing.T, c *cephdaemons.Ceph) {
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	for range 3 {
		monmap, err := conn.MonMap(t.Context())
		check(t, err)
		answered := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			_, err := conn.mgr(ctx, "fs subvolumegroup ls", arguments{"vol_name": cephdaemons.Filesystem})
			answered <- err
		}()
		check(t, c.Pause())
		if err := <-answered; err != nil && !errors.Is(err, ceph.ErrTimeout) && !errors.Is(err, ceph.ErrUnreachable) {
			t.Errorf("monmap epoch %d: got %v", monmap.Epoch, err)
		}
		check(t, c.Resume())
		check(t, c.WaitFilesystem(t.Context()))
		ensureGroup(t, conn, "late")
	}
}
