package cephtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

func connect(t *testing.T, c *Cluster, source ceph.Source) *Client {
	t.Helper()
	client, err := c.Dial(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestFilesDeclareTheCluster(t *testing.T) {
	c := New()
	c.AddMon("b")
	got, err := ceph.ParseSource(t.Context(), map[string][]byte{
		ceph.EntryConf: c.Conf(), ceph.EntryKeyring: c.Keyring("admin"),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ceph.MonHost(c.Source().Monitors), ceph.MonHost(got.Monitors)); diff != "" {
		t.Errorf("mons (-want +got)\n%s", diff)
	}
	connect(t, c, got)
	if c.Dials() != 1 {
		t.Errorf("%d dials are counted", c.Dials())
	}
}

func TestWritesAreCounted(t *testing.T) {
	c := New()
	c.AddFileSystem("f", true)
	client := connect(t, c, c.Source())
	for range 2 {
		err := errors.Join(client.CreatePool(t.Context(), "p"),
			client.EnableApplication(t.Context(), "p", "rbd"),
			client.EnsureSubvolumeGroup(t.Context(), "f", "csi"))
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{"osd pool create": 1, "osd pool application enable": 1, "fs subvolumegroup create": 1}
	if diff := cmp.Diff(want, c.Writes()); diff != "" {
		t.Errorf("the second round must write nothing (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"csi"}, c.Groups("f")); diff != "" {
		t.Errorf("groups (-want +got)\n%s", diff)
	}
	c.RemovePool("p")
	c.RemoveFileSystem("f")
	if len(c.Pools()) != 2 || len(c.Groups("f")) != 0 {
		t.Errorf("the pools of a filesystem stay, nothing else: %v, %v", c.Pools(), c.Groups("f"))
	}
}

func TestSessionsOutliveTheirUser(t *testing.T) {
	c := New()
	old := c.Source()
	client := connect(t, c, old)
	c.AddUser("admin", "osd pool create")
	if err := client.CreatePool(t.Context(), "p"); err != nil {
		t.Errorf("a session keeps its rights: %v", err)
	}
	if _, err := c.Dial(t.Context(), old); !errors.Is(err, ceph.ErrWrongKey) {
		t.Errorf("the old key: got %v, want %v", err, ceph.ErrWrongKey)
	}
	if err := connect(t, c, c.Source()).CreatePool(t.Context(), "q"); !errors.Is(err, ceph.ErrDenied) {
		t.Errorf("the new rights: got %v, want %v", err, ceph.ErrDenied)
	}
	c.RemoveUser("admin")
	if _, err := client.MonMap(t.Context()); err != nil {
		t.Errorf("a session outlives its user: %v", err)
	}
}

func TestAllMonsReplaced(t *testing.T) {
	c := New()
	old := c.Source()
	client := connect(t, c, old)
	c.AddMon("b")
	c.RemoveMon("a")
	if _, err := c.Dial(t.Context(), old); !errors.Is(err, ceph.ErrUnreachable) {
		t.Errorf("the old mons: got %v, want %v", err, ceph.ErrUnreachable)
	}
	m, err := client.MonMap(t.Context())
	if err != nil || m.Epoch != 3 || len(m.Mons) != 1 || m.Mons[0].Name != "b" {
		t.Errorf("a session finds the new mons: %+v, %v", m, err)
	}
	any := old
	any.Monitors = []ceph.Address{{Protocol: ceph.Any, IP: m.Mons[0].Addrs[1].IP, Port: 6789}}
	connect(t, c, any)
}

func TestHang(t *testing.T) {
	c := New()
	client := connect(t, c, c.Source())
	c.Hang()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := client.MonMap(ctx); !errors.Is(err, ceph.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, ceph.ErrTimeout)
	}
	done := make(chan error)
	go func() {
		_, err := client.MonMap(t.Context())
		done <- err
	}()
	select {
	case err := <-done:
		t.Errorf("the call came back: %v", err)
	case <-ctx.Done():
	}
	c.Start()
	if err := <-done; err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

func TestStop(t *testing.T) {
	c := New()
	client := connect(t, c, c.Source())
	c.Stop()
	if _, err := client.FileSystems(t.Context()); !errors.Is(err, ceph.ErrTimeout) {
		t.Errorf("call: got %v, want %v", err, ceph.ErrTimeout)
	}
	if _, err := c.Dial(t.Context(), c.Source()); !errors.Is(err, ceph.ErrUnreachable) {
		t.Errorf("dial: got %v, want %v", err, ceph.ErrUnreachable)
	}
	c.Start()
	connect(t, c, c.Source())
}

func TestMDSAndCluster(t *testing.T) {
	c := New()
	c.AddFileSystem("f", true)
	client := connect(t, c, c.Source())
	c.SetActive("f", false)
	if err := client.EnsureSubvolumeGroup(t.Context(), "f", "csi"); !errors.Is(err, ceph.ErrNoActiveMDS) {
		t.Errorf("got %v, want %v", err, ceph.ErrNoActiveMDS)
	}
	declared := c.Source()
	c.SetFSID("c0ffee00-0000-4000-8000-000000000002")
	if _, err := c.Dial(t.Context(), declared); !errors.Is(err, ceph.ErrOtherCluster) {
		t.Errorf("got %v, want %v", err, ceph.ErrOtherCluster)
	}
}
