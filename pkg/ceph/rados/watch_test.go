//go:build cgo

package rados

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
)

// testWatchesInOutage: a Ceph without answers holds up nobody who begins or ends a watch.
func testWatchesInOutage(t *testing.T, c *cephdaemons.Ceph) {
	const soon = 20 * time.Second
	ctx, object := t.Context(), ceph.PresenceObject("outage", "rbd")
	check(t, c.CreatePool(ctx, "watched", "rbd"))
	conn, err := Dial(ctx, source(t, c), quick)
	check(t, err)
	held, err := conn.Watch(ctx, "watched", object, []byte("held"), true)
	check(t, err)
	other, err := Dial(ctx, source(t, c), quick)
	check(t, err)
	defer other.Close()

	check(t, c.Pause())
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begin := time.Now()
	if _, err := other.Watch(limited, "watched", object, nil, true); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("watching: %v", err)
	}
	if _, err := other.Watchers(limited, "watched", object); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("asking who watches: %v", err)
	}
	if err := held.Lost(); err != nil {
		t.Errorf("a watch is lost at once: %v", err)
	}
	conn.Close()
	if took := time.Since(begin); took > soon {
		t.Errorf("it took %s", took)
	}
	check(t, c.Resume())

	patient, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		found, err := other.Watchers(patient, "watched", object)
		if err == nil && len(found) == 0 {
			return
		}
		if patient.Err() != nil {
			t.Fatalf("who closed its connection, or did not wait for its watch, still watches: %v, %v", found, err)
		}
	}
}
