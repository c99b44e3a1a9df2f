//go:build cgo

package rados

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testWithoutCaps: since Ceph 18, OSDs and MDSs do not answer a user without caps for them.
func testWithoutCaps(t *testing.T, c *cephdaemons.Ceph) {
	s := source(t, c)
	s.Credentials = addUser(t, c, "without-caps", "mon", "allow r")
	conn, err := Dial(t.Context(), s, quick)
	check(t, err)
	defer conn.Close()
	// The mount alone takes 45 s.
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	begin := time.Now()
	for range 3 {
		rights, err := conn.ObjectRights(ctx, metadataPool, "")
		if err != nil || rights.Read || rights.Write {
			t.Errorf("rights are %+v, %v", rights, err)
		}
		_, err = conn.ImageNamespaces(ctx, metadataPool)
		var answer *ceph.CommandError
		if want := ceph.ErrDenied; !errors.Is(err, want) {
			t.Errorf("objects: got %v, want %v", err, want)
		} else if !errors.As(err, &answer) && !errors.Is(err, ceph.ErrUnheard) {
			t.Errorf("objects: got %v, want an OSD's answer or %v", err, ceph.ErrUnheard)
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("six questions took %s", took)
	}
	if _, err := conn.Mount(ctx, cephdaemons.Filesystem); !errors.Is(err, ceph.ErrDenied) {
		t.Errorf("mount: got %v, want %v", err, ceph.ErrDenied)
	}
}

// TestUnheardSaysWhy: what refuses and what does not let through look the same.
func TestUnheardSaysWhy(t *testing.T) {
	err := (&Conn{}).withoutCaps()
	for _, cause := range []string{"no caps for OSDs", "ports 6800-7568"} {
		if !errors.Is(err, ceph.ErrUnheard) || !strings.Contains(err.Error(), cause) {
			t.Errorf("got %v, want %q", err, cause)
		}
	}
}

// testPausedOSDs: clients ask nothing of OSDs while Ceph has these flags, which is no refusal either.
func testPausedOSDs(t *testing.T, c *cephdaemons.Ceph) {
	command(t, c, "osd", "pause")
	defer command(t, c, "osd", "unpause")
	conn, err := Dial(t.Context(), source(t, c), Options{Silence: 2 * time.Second, OSD: 7 * time.Second})
	check(t, err)
	defer conn.Close()
	_, err = conn.ImageNamespaces(t.Context(), metadataPool)
	if !errors.Is(err, ceph.ErrTimeout) || errors.Is(err, ceph.ErrDenied) || !strings.Contains(err.Error(), "pauserd,pausewr") {
		t.Errorf("got %v, want %v and the flags", err, ceph.ErrTimeout)
	}
}

// testSilentOSD: an outage is no refusal.
func testSilentOSD(t *testing.T, c *cephdaemons.Ceph) {
	conn, err := Dial(t.Context(), source(t, c), quick)
	check(t, err)
	defer conn.Close()
	_, err = conn.ImageNamespaces(t.Context(), metadataPool)
	check(t, err)
	check(t, c.PauseOSD())
	defer func() { check(t, c.ResumeOSD(t.Context())) }()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := conn.ImageNamespaces(ctx, metadataPool); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("got %v, want %v", err, ceph.ErrTimeout)
	}
}
