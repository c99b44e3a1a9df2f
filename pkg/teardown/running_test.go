package teardown

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/cephtest"
)

// manned is a Ceph cluster with two pools in which an operator of cluster "a" may watch.
func manned(t *testing.T) (*cephtest.Cluster, *cephtest.Client) {
	t.Helper()
	c := cephtest.New()
	c.AddPool(ceph.Pool{Name: "p", Applications: []string{"rbd"}})
	c.AddPool(ceph.Pool{Name: "q", Applications: []string{"rbd"}})
	c.AddPool(ceph.Pool{Name: "ec", Applications: []string{"rbd"}, ErasureCoded: true})
	c.AddFileSystem("f", true)
	client, err := c.Dial(t.Context(), c.Source())
	if err != nil {
		t.Fatal(err)
	}
	return c, client
}

func watch(t *testing.T, client *cephtest.Client, pool, infraID, kind, host string) ceph.Watch {
	t.Helper()
	said, err := ceph.Presence{Driver: kind + ".csi.ceph.com", Host: host, Address: "10.0.0.1", Since: time.Unix(0, 0)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w, err := client.Watch(t.Context(), pool, ceph.PresenceObject(infraID, kind), said, true)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func running(t *testing.T, c *cephtest.Client, clock *clocktesting.FakeClock) []string {
	t.Helper()
	got, err := NewOperators("a", c, []string{"rbd", "cephfs"}, clock).Running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRunning(t *testing.T) {
	c, client := manned(t)
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	watch(t, client, "p", "b", "rbd", "b-1")
	if got := running(t, client, clock); len(got) > 0 {
		t.Errorf("another cluster's: %q", got)
	}
	images := watch(t, client, "q", "a", "rbd", "a-1")
	watch(t, client, "p", "a", "rbd", "a-1")
	watch(t, client, "f-metadata", "a", "cephfs", "a-2")
	want := []string{
		"the operator of cephfs.csi.ceph.com on host a-2 at 10.0.0.1 since 1970-01-01T00:00:00Z (pools f-metadata)",
		"the operator of rbd.csi.ceph.com on host a-1 at 10.0.0.1 since 1970-01-01T00:00:00Z (pools p, q)",
	}
	if got := running(t, client, clock); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	images.End()
	if got := running(t, client, clock); len(got) != 2 || !strings.HasSuffix(got[1], "(pools p)") {
		t.Errorf("after an end: %q", got)
	}
	c.Stop()
	if _, err := NewOperators("a", client, []string{"rbd"}, clock).Running(t.Context()); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("Ceph is silent: %v", err)
	}
}

// halfway lets time pass for who waits, and has something happen in the middle of deadClient.
func halfway(t *testing.T, clock *clocktesting.FakeClock, happens func()) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	begin := clock.Now()
	go func() {
		for once := false; ctx.Err() == nil; {
			if clock.HasWaiters() {
				clock.Step(lookAgain)
			}
			if !once && clock.Since(begin) > deadClient/2 {
				happens()
				once = true
			}
		}
	}()
	return cancel
}

// TestDeadOperators: Ceph drops those that have died; whoever is silent for longer hangs, and lives.
func TestDeadOperators(t *testing.T) {
	for name, buried := range map[string]bool{"Dead": true, "Hanging": false} {
		t.Run(name, func(t *testing.T) {
			c, client := manned(t)
			clock := clocktesting.NewFakeClock(time.Unix(0, 0))
			watch(t, client, "p", "a", "rbd", "a-1")
			c.KillWatchers()
			half := func() {}
			if buried {
				half = c.BuryWatchers
			}
			defer halfway(t, clock, half)()
			got := running(t, client, clock)
			waited := clock.Since(time.Unix(0, 0))
			if buried && (len(got) > 0 || waited > deadClient) {
				t.Errorf("after %s: %q", waited, got)
			}
			if !buried && (len(got) != 1 || !strings.Contains(got[0], "does not answer") || waited < deadClient) {
				t.Errorf("after %s: %q", waited, got)
			}
		})
	}
}

// TestRemainingOperators: one that was told to end answers until it has; who goes on for longer lives.
func TestRemainingOperators(t *testing.T) {
	for name, ends := range map[string]bool{"Ending": true, "Living": false} {
		t.Run(name, func(t *testing.T) {
			_, client := manned(t)
			clock := clocktesting.NewFakeClock(time.Unix(0, 0))
			watched := watch(t, client, "p", "a", "rbd", "a-1")
			half := func() {}
			if ends {
				half = watched.End
			}
			defer halfway(t, clock, half)()
			got, err := NewOperators("a", client, []string{"rbd", "cephfs"}, clock).Remaining(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			waited := clock.Since(time.Unix(0, 0))
			if ends && (len(got) > 0 || waited > deadClient) || !ends && (len(got) != 1 || waited < deadClient) {
				t.Errorf("after %s: %q", waited, got)
			}
		})
	}
}
