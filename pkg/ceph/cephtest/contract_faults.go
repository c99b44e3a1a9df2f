package cephtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// patience is how long a real Ceph may take for what the contract waits for.
const patience = 2 * time.Minute

func testRefused(t *testing.T, s Subject) {
	wrongKey, wrongUser, deadMon := s.Source, s.Source, s.Source
	wrongKey.Key = newKey(ceph.AES, 99)
	wrongUser.UserID = "nobody"
	deadMon.Key = newKey(ceph.AES, 99)
	deadMon.Monitors = append([]ceph.Address{s.Dead}, s.Source.Monitors...)
	for name, source := range map[string]ceph.Source{
		"wrong key": wrongKey, "unknown user": wrongUser, "wrong key beside a dead mon": deadMon,
	} {
		_, err := s.Dial(t.Context(), source)
		must(t, name, err, ceph.ErrWrongKey)
		if strings.Contains(err.Error(), source.Key.Reveal()) {
			t.Errorf("%s: the error shows the key", name)
		}
	}
}

func testOtherCluster(t *testing.T, s Subject) {
	source := s.Source
	source.FSID = "00000000-1111-2222-3333-444444444444"
	_, err := s.Dial(t.Context(), source)
	must(t, "dial", err, ceph.ErrOtherCluster)
	if !strings.Contains(err.Error(), source.FSID) || !strings.Contains(err.Error(), s.Source.FSID) {
		t.Errorf("the error does not name both clusters: %v", err)
	}
}

func testUnreachable(t *testing.T, s Subject) {
	source := s.Source
	source.Monitors = []ceph.Address{s.Dead}
	_, err := s.Dial(t.Context(), source)
	must(t, "dial", err, ceph.ErrUnreachable)
	source.Monitors = nil
	_, err = s.Dial(t.Context(), source)
	must(t, "dial without addresses", err, ceph.ErrUnreachable)
	source.Monitors = append([]ceph.Address{s.Dead}, s.Source.Monitors...)
	dial(t, s, source)
}

func testMons(t *testing.T, s Subject) {
	conn := dial(t, s, s.Source)
	before, err := conn.MonMap(t.Context())
	must(t, "monmap", err, nil)
	s.AddMon(t, "contract")
	grown := await(t, conn, func(m ceph.MonMap) bool { return len(m.Mons) == len(before.Mons)+1 })
	if grown.Epoch <= before.Epoch {
		t.Errorf("epoch went from %d to %d", before.Epoch, grown.Epoch)
	}
	s.RemoveMon(t, "contract")
	shrunk := await(t, conn, func(m ceph.MonMap) bool { return len(m.Mons) == len(before.Mons) })
	if shrunk.Epoch <= grown.Epoch || !slices.Equal(shrunk.Monitors(), before.Monitors()) {
		t.Errorf("monmap went from %+v to %+v", grown, shrunk)
	}
}

// await asks the same connection until its monmap is as wanted.
func await(t *testing.T, conn Connection, wanted func(ceph.MonMap) bool) ceph.MonMap {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		m, err := conn.MonMap(ctx)
		if err == nil && wanted(m) {
			return m
		}
		if ctx.Err() != nil {
			t.Fatalf("monmap is %+v: %v", m, err)
		}
	}
}

func testOutage(t *testing.T, s Subject) {
	conn := dial(t, s, s.Source)
	s.Stop(t)
	defer s.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := conn.MonMap(ctx)
	must(t, "monmap in an outage", err, ceph.ErrTimeout)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the call came back after %s, its deadline was 2 s", took)
	}
	s.Start(t)
	await(t, conn, func(ceph.MonMap) bool { return true })
}

func testContext(t *testing.T, s Subject) {
	conn := dial(t, s, s.Source)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := conn.Pools(ctx)
	must(t, "call", err, ceph.ErrTimeout)
	must(t, "call", err, context.Canceled)
	_, err = s.Dial(ctx, s.Source)
	must(t, "dial", err, ceph.ErrTimeout)
	_, err = conn.Pools(t.Context())
	must(t, "next call", err, nil)
}

func testClose(t *testing.T, s Subject) {
	conn := dial(t, s, s.Source)
	conn.Close()
	conn.Close()
	_, err := conn.MonMap(t.Context())
	must(t, "call after close", err, ceph.ErrClosed)
	_, err = conn.FSID(t.Context())
	must(t, "fsid after close", err, ceph.ErrClosed)
}
