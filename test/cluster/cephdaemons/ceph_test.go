package cephdaemons

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
)

// TestCeph walks through the life of one cluster; each start costs seconds.
func TestCeph(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Ceph")
	}
	logs := t.TempDir()
	group := process.NewGroup(logs, func(process.Record) error { return nil })
	t.Cleanup(group.Kill)
	c, err := Start(t.Context(), Options{Dir: t.TempDir() + "/ceph", Daemons: group})
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, c, "fsid"); got != c.FSID() {
		t.Errorf("fsid %s, want %s", got, c.FSID())
	}
	checkHealth(t, c)
	checkLoopback(t, group)
	checkPool(t, c)
	checkInterpreter(t, c)
	checkPause(t, c)
	checkFull(t, c)
	checkRestart(t, c)
	checkSilentOSD(t, c)
	checkKilled(t, c)
	checkEvicted(t, c)
	checkStartedAnew(t, c)
	checkFailedFilesystem(t, c)
	checkMons(t, c, logs)
	checkNoKeyInArguments(t, c, group)
}

// checkHealth waits for a cluster without troubles but those that belong to it: keys of a type that
// Ceph 20.2.4 advises against, and the mgr's module devicehealth, which fails on a busy machine and which
// nothing here needs.
func checkHealth(t *testing.T, c *Ceph) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		var health struct {
			Checks map[string]struct{ Summary struct{ Message string } }
		}
		if err := json.Unmarshal([]byte(ask(t, c, "health", "--format", "json")), &health); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(health.Checks, func(name string, check struct{ Summary struct{ Message string } }) bool {
			return strings.HasPrefix(name, "AUTH_INSECURE_") || strings.Contains(check.Summary.Message, "'devicehealth'")
		})
		if len(health.Checks) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("health: %v", health.Checks)
		case <-time.After(pollEvery):
		}
	}
}

func checkPool(t *testing.T, c *Ceph) {
	t.Helper()
	if err := c.CreatePool(t.Context(), "rbd", "rbd"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RBD(t.Context(), "create", "--size", "1", "rbd/image"); err != nil {
		t.Error(err)
	}
}

func checkPause(t *testing.T, c *Ceph) {
	t.Helper()
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if out, err := c.Command(ctx, "mon", "dump"); err == nil {
		t.Errorf("a paused Ceph answers: %s", out)
	}
	if err := c.Resume(); err != nil {
		t.Fatal(err)
	}
	ask(t, c, "mon", "dump")
}

// checkFull: what is written waits until there is room again.
func checkFull(t *testing.T, c *Ceph) {
	t.Helper()
	if err := c.Load(t.Context(), "rbd"); err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := c.RADOS(t.Context(), "-p", "rbd", "create", "object")
		written <- err
	}()
	ask(t, c, "osd", "pool", "application", "set", "rbd", "rbd", "key", "value")
	select {
	case err := <-written:
		t.Errorf("a full pool takes an object: %v", err)
	case <-time.After(2 * time.Second):
	}
	if err := c.Empty(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// checkRestart: what was written is still there.
func checkRestart(t *testing.T, c *Ceph) {
	t.Helper()
	for _, daemon := range []string{"ceph-osd.0", "ceph-mgr.x"} {
		if err := c.Restart(t.Context(), daemon); err != nil {
			t.Fatal(err)
		}
	}
	out, err := c.RBD(t.Context(), "ls", "rbd")
	if err != nil || string(out) != "image\n" {
		t.Errorf("images after restarts: %q, %v", out, err)
	}
}

// checkKilled: without a kind of daemons, what needs them gets no answer; afterwards all serves, and all data is there.
// The MDS does not wait long for clients that were killed, such as the mgr.
func checkKilled(t *testing.T, c *Ceph) {
	t.Helper()
	for _, tc := range []struct {
		kind  string
		needs []string
	}{
		{"ceph-mon", []string{"mon", "dump"}},
		{"ceph-mgr", []string{"fs", "subvolumegroup", "ls", Filesystem}},
		{"ceph-mds", []string{"tell", "mds.*", "session", "ls"}},
	} {
		killed := c.Kill(t.Context(), tc.kind)
		if len(killed) == 0 {
			t.Fatalf("there is no %s", tc.kind)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		if out, err := c.Command(ctx, tc.needs...); err == nil {
			t.Errorf("answer without a %s: %s", tc.kind, out)
		}
		cancel()
		begin := time.Now()
		if err := c.StartAgain(t.Context(), killed); err != nil {
			t.Fatal(err)
		}
		ask(t, c, tc.needs...)
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("%s serves after %s", tc.kind, took)
		}
	}
	killed := c.Kill(t.Context(), "ceph-osd")
	if err := c.StartAgain(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
	out, err := c.RBD(t.Context(), "ls", "rbd")
	if err != nil || string(out) != "image\n" {
		t.Errorf("images afterwards: %q, %v", out, err)
	}
}

// checkEvicted: what a mgr had open when it was killed can be closed.
func checkEvicted(t *testing.T, c *Ceph) {
	t.Helper()
	ask(t, c, "fs", "subvolumegroup", "ls", Filesystem)
	if !mounted(t, c, mgrID) {
		t.Fatal("the mgr has no session with the MDS")
	}
	killed := c.Kill(t.Context(), "ceph-mgr")
	if err := c.evict(t.Context(), mgrID); err != nil {
		t.Fatal(err)
	}
	if mounted(t, c, mgrID) {
		t.Error("the mgr that was killed still has a session with the MDS")
	}
	if err := c.StartAgain(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
}

// mounted tells whether a daemon has the filesystem mounted.
func mounted(t *testing.T, c *Ceph, daemon string) bool {
	t.Helper()
	out, err := c.Command(t.Context(), "tell", "mds."+mdsID, "session", "ls")
	if err != nil {
		t.Fatal(err)
	}
	clients, err := ceph.ParseFileClients(out)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(clients, func(c ceph.FileClient) bool { return c.Entity == "client."+daemon })
}

// lease is how long an OSD may answer reads before it has to renew that, with Ceph's settings.
const lease = 16 * time.Second

// checkSilentOSD: what was asked of an OSD while it was silent gets an answer when it is not any more, however long that was.
func checkSilentOSD(t *testing.T, c *Ceph) {
	t.Helper()
	asked := make(chan error, 1)
	go func() {
		_, err := c.RADOS(t.Context(), "-p", "rbd", "bench", "30", "write", "-t", "32", "-b", "4096")
		asked <- err
	}()
	<-time.After(2 * time.Second)
	if err := c.PauseOSD(); err != nil {
		t.Fatal(err)
	}
	<-time.After(lease + 4*time.Second)
	if err := c.ResumeOSD(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-asked:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("an OSD that was silent answers for ever nobody")
	}
	// Its journal is in that OSD.
	killed := c.Kill(t.Context(), "ceph-mds")
	if err := c.StartAgain(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
}

// checkFailedFilesystem: an MDS whose filesystem is failed starts itself anew.
func checkFailedFilesystem(t *testing.T, c *Ceph) {
	t.Helper()
	ask(t, c, "fs", "fail", Filesystem)
	ask(t, c, "fs", "set", Filesystem, "joinable", "true")
	if err := c.waitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// checkCrash: a daemon that crashes comes back.
func checkCrash(t *testing.T, c *Ceph, mon string) {
	t.Helper()
	daemon := "ceph-mon." + mon
	c.mu.Lock()
	crashed := c.daemon[daemon]
	c.mu.Unlock()
	if err := syscall.Kill(crashed.PID, syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	<-crashed.Done()
	if !crashed.Crashed() {
		t.Fatalf("not taken for a crash: %v", crashed.Exited())
	}
	err := c.waitFor(t.Context(), "a quorum with mon "+mon, func(s status) bool { return slices.Contains(c.Daemons(), daemon) && s.hasMon(mon) })
	if err != nil {
		t.Fatal(err)
	}
}

// checkMons replaces the first mon by two others, one of which was killed in between.
func checkMons(t *testing.T, c *Ceph, logs string) {
	t.Helper()
	first := c.MonHost("a")
	for _, name := range []string{"b", "c"} {
		if err := c.AddMon(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	checkCrash(t, c, "c")
	c.KillMon("b")
	if err := c.waitFor(t.Context(), "a quorum without b", func(s status) bool { return !s.hasMon("b") && s.hasMon("c") }); err != nil {
		t.Fatal(err)
	}
	if err := c.StartMon(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	checkSessions(t, c)
	if err := c.RemoveMon(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(filepath.Join(logs, "ceph-mon.a.log")); err != nil || strings.Contains(string(log), "removed from monmap") {
		t.Errorf("mon a lived to see its removal (%v): who has found it meanwhile goes on with it for ever", err)
	}
	if want := []string{"b", "c"}; !slices.Equal(c.Mons(), want) {
		t.Errorf("mons %v, want %v", c.Mons(), want)
	}
	if dump := ask(t, c, "mon", "dump"); strings.Contains(dump, "mon.a") || strings.Contains(c.Conf(), first) {
		t.Errorf("mon a is still known:\n%s\n%s", dump, c.Conf())
	}
	if got, want := c.Daemons(), []string{"ceph-mds.a", "ceph-mgr.x", "ceph-mon.b", "ceph-mon.c", "ceph-osd.0"}; !slices.Equal(got, want) {
		t.Errorf("daemons %v, want %v", got, want)
	}
}

// checkSessions: a daemon that does not run on is waited for.
func checkSessions(t *testing.T, c *Ceph) {
	t.Helper()
	if err := c.waitForSessions(t.Context(), lostAfter); err != nil {
		t.Fatal(err)
	}
	if err := c.process("ceph-mds.a").Pause(); err != nil {
		t.Fatal(err)
	}
	mgr := c.mgr()
	for _, mon := range c.Mons() {
		c.KillMon(mon)
	}
	for _, mon := range c.Mons() {
		if err := c.start("ceph-mon", mon); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.waitFor(t.Context(), "a quorum of all", func(s status) bool { return len(s.QuorumNames) == len(c.Mons()) }); err != nil {
		t.Fatal(err)
	}
	if lost, err := c.withoutSession(t.Context()); !slices.Contains(lost, "mds.a") {
		t.Errorf("a paused MDS has a session with mons that were started anew: without one are %v, %v", lost, err)
	}
	if err := c.waitForSessions(t.Context(), time.Second); err != nil {
		t.Errorf("one that finds no mon is started anew: %v", err)
	}
	if c.mgr() == mgr {
		t.Error("the mgr still mounts the filesystem of an MDS that is gone")
	}
}

// checkStartedAnew: the OSD has its data in memory, and writes them down when it is asked to end.
func checkStartedAnew(t *testing.T, c *Ceph) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	pool := Filesystem + "-data"
	if _, err := c.RADOS(t.Context(), "--pool", pool, "put", "kept", file); err != nil {
		t.Fatal(err)
	}
	if err := c.startAnew(t.Context(), []string{"osd.0"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if out, err := c.RADOS(ctx, "--pool", pool, "get", "kept", "-"); err != nil || string(out) != "kept" {
		t.Errorf("after the OSD was started anew, there is %q: %v", out, err)
	}
}

func checkNoKeyInArguments(t *testing.T, c *Ceph, group *process.Group) {
	t.Helper()
	for _, p := range group.Running() {
		arguments, err := os.ReadFile(procFile(p.PID, "cmdline"))
		if err != nil || strings.Contains(string(arguments), c.admin.key) {
			t.Errorf("arguments of %s: %q, %v", p.Name, arguments, err)
		}
	}
}

func ask(t *testing.T, c *Ceph, arguments ...string) string {
	t.Helper()
	out, err := c.Command(t.Context(), arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
