package statedir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

func TestCreateRefuses(t *testing.T) {
	tests := map[string]struct {
		reason  string
		prepare func(t *testing.T, path string)
		running bool
	}{
		"Running": {
			reason:  "two owners would kill each other's processes",
			prepare: func(t *testing.T, path string) { mustCreate(t, path) },
			running: true,
		},
		"Foreign": {
			reason: "somebody's files must not be removed",
			prepare: func(t *testing.T, path string) {
				if err := errors.Join(os.MkdirAll(path, 0o700), os.WriteFile(filepath.Join(path, "thesis.tex"), nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cluster")
			tc.prepare(t, path)
			_, err := Create(path)
			running := RunningError{}
			if err == nil || errors.As(err, &running) != tc.running {
				t.Fatalf("%s: got %v", tc.reason, err)
			}
			if tc.running && running.Owner.PID != os.Getpid() {
				t.Errorf("owner is %d, want this process", running.Owner.PID)
			}
		})
	}
}

func TestCreateAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	crashed := mustCreate(t, path)
	daemon := mustStart(t, crashed)
	if err := crashed.Release(); err != nil {
		t.Fatal(err)
	}
	again := mustCreate(t, path)
	if daemon.Alive(path) {
		t.Error("a process of the earlier run is alive")
	}
	if _, err := os.Stat(filepath.Join(path, "daemon.log")); !os.IsNotExist(err) {
		t.Errorf("the log of the earlier run is there: %v", err)
	}
	if err := again.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the folder is there after its removal: %v", err)
	}
}

func TestStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster")
	if err := Stop(context.Background(), path); !errors.Is(err, ErrNoCluster) {
		t.Errorf("without a cluster: got %v", err)
	}
	d := mustCreate(t, path)
	daemon := mustStart(t, d)
	// A record of a number that another process got meanwhile must not be its end.
	stranger, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	stranger.StartTicks++
	left := filepath.Join(t.TempDir(), "left")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.Add(stranger), d.AddCleanup("/bin/rm", left), d.Release()); err != nil {
		t.Fatal(err)
	}
	if err := Stop(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	if daemon.Alive(path) {
		t.Error("a process of the cluster is alive")
	}
	for _, gone := range []string{path, left} {
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", gone, err)
		}
	}
}

func mustCreate(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Release() })
	return d
}

func mustStart(t *testing.T, d *Dir) process.Record {
	t.Helper()
	group := process.NewGroup(d.Path(), d.Add)
	t.Cleanup(group.Kill)
	p, err := group.Start("daemon", "/usr/bin/tail", "-f", filepath.Join(d.Path(), "daemon.log"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Record
}
