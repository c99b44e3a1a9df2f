package check

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
)

// readme is the user for everything of README.md: everything but making users.
var readme = passthroughCaps

func TestCeph(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*rig)
		want   []expect
	}{
		"AllRight": {
			reason: "the administrator's files",
			change: func(*rig) {},
			want: []expect{
				{group: "Files", name: "ceph.conf", state: OK, message: []string{"c0ffee00-0000-4000-8000-000000000001", "3 mon addresses"}},
				{group: "Files", name: "keyring", state: OK, message: []string{"client.admin"}},
				{group: "Mons", name: "mon a v2:10.20.0.2:3300", state: OK},
				{group: "Mons", name: "mon c v1:10.20.0.4:6789", state: OK},
				{group: "Mons", name: "quorum", state: OK, message: []string{"3 mons: a, b, c"}},
				{group: "Ceph", name: "versions", state: OK, message: []string{"16.2.15"}},
				{group: "Ceph", name: "clocks", state: OK},
				{group: "User", name: "minting", state: OK},
				{group: "User", name: "passthrough RBD", state: OK},
				{group: "User", name: "passthrough CephFS", state: OK},
				{group: "User", name: "pool protection", state: OK},
				{group: "RBD", name: "pool", state: OK, message: []string{"the operator makes it"}},
				{group: "RBD", name: "ms_mode", state: OK, message: []string{"speak v1"}},
				{group: "CephFS", name: "filesystem", state: OK, message: []string{"myfs"}},
				{group: "CephFS", name: "subvolume group", state: OK, message: []string{"<infrastructure name>", "the operator makes it"}},
			},
		},
		"NoMons": {
			reason: "what hangs on a file is not looked at",
			change: func(r *rig) { r.config.Conf.Content = []byte("[global]\nfsid = x\n") },
			want: []expect{
				{group: "Files", name: "ceph.conf", state: Wrong, message: []string{"a.conf: no mon_host"}, fix: "ceph config generate-minimal-conf"},
				{group: "Files", name: "keyring", state: OK},
				{group: "Ceph", name: "connection", state: Unknown, message: []string{"a file cannot be used"}},
				{group: "RBD", name: "volumes", state: Unknown},
			},
		},
		"NoSuchUser": {
			reason: "--user that the keyring does not have",
			change: func(r *rig) { r.config.User = "client.nobody" },
			want:   []expect{{group: "Files", name: "keyring", state: Wrong, message: []string{"it has client.admin"}, fix: "ceph auth get client.nobody"}},
		},
		"WrongKey": {
			reason: "the mons answer all the same",
			change: func(r *rig) { r.ceph.AddUser("admin") },
			want: []expect{
				{group: "Ceph", name: "connection", state: Wrong, message: []string{"refuse client.admin"}, fix: "ceph auth get client.admin -o a.keyring"},
				{group: "Mons", name: "mon v2:10.20.0.2:3300", state: OK},
				{group: "User", name: "minting", state: Unknown},
			},
		},
		"OtherCluster": {
			reason: "the mons are not those that ceph.conf means",
			change: func(r *rig) { r.ceph.SetFSID("c0ffee00-0000-4000-8000-000000000009") },
			want:   []expect{{group: "Ceph", name: "connection", state: Wrong, message: []string{"000000000009", "000000000001"}, fix: "generate-minimal-conf"}},
		},
		"DeadMon": {
			reason: "one of three: both of its addresses, and the quorum",
			change: func(r *rig) { r.ceph.KillMon("b") },
			want: []expect{
				{group: "Mons", name: "mon a v2:10.20.0.2:3300", state: OK},
				{group: "Mons", name: "mon b v2:10.20.0.3:3300", state: Wrong, message: []string{"nobody listens"}, fix: "ceph-mon@b"},
				{group: "Mons", name: "mon b v1:10.20.0.3:6789", state: Wrong, fix: "ceph mon remove b"},
				{group: "Mons", name: "quorum", state: Wrong, message: []string{"2 of 3", "b"}, fix: "ceph-mon@b"},
				{group: "Ceph", name: "connection", state: OK},
			},
		},
		"NeverJoined": {
			reason: "it counts towards the majority, and has no address to be tried",
			change: func(r *rig) { r.ceph.ExpectMon("d") },
			want: []expect{
				{group: "Mons", name: "quorum", state: Wrong, message: []string{"3 of 4 mons; out of it: d (never joined)"}, fix: "ceph mon remove d"},
				{group: "Ceph", name: "connection", state: OK},
			},
		},
		"FormerMon": {
			reason: "ceph.conf is older than the monmap, which is enough to start with",
			change: func(r *rig) { r.ceph.RemoveMon("c") },
			want: []expect{
				{group: "Mons", name: "mon v2:10.20.0.4:3300", state: Note, message: []string{"any more"}, fix: "generate-minimal-conf"},
				{group: "Mons", name: "quorum", state: OK},
			},
		},
		"Silent": {
			reason: "no mon makes a connection",
			change: func(r *rig) {
				r.ceph.Stop()
				for _, name := range []string{"a", "b", "c"} {
					r.ceph.KillMon(name)
				}
			},
			want: []expect{
				{group: "Ceph", name: "connection", state: Wrong, message: []string{"none of the addresses answers"}, fix: "ceph -s"},
				{group: "Mons", name: "mon v2:10.20.0.2:3300", state: Wrong, fix: "nc -vz 10.20.0.2 3300"},
				{group: "Mons", name: "mon v2:10.20.0.3:3300", state: Wrong},
				{group: "Mons", name: "mon v2:10.20.0.4:3300", state: Wrong},
			},
		},
		"OldCeph": {
			reason: "ceph-csi sends commands that it does not know",
			change: func(r *rig) {
				r.ceph.SetVersions(ceph.Versions{"mon": {"16.2.15": 3}, "osd": {"15.2.17": 2, "16.2.15": 1}})
			},
			want: []expect{{group: "Ceph", name: "versions", state: Wrong, message: []string{"15.2.17 of osd"}, fix: "ceph orch upgrade"}},
		},
		"MixedCeph": {
			reason: "an upgrade is under way",
			change: func(r *rig) {
				r.ceph.SetVersions(ceph.Versions{"mon": {"19.2.3": 3}, "osd": {"18.2.4": 1}})
			},
			want: []expect{{group: "Ceph", name: "versions", state: Note, message: []string{"18.2.4, 19.2.3"}}},
		},
		"LosesData": {
			reason: "one release, with one setting",
			change: func(r *rig) { r.ceph.SetVersions(ceph.Versions{"mon": {"20.2.0": 3}}) },
			want:   []expect{{group: "Ceph", name: "versions", state: Note, message: []string{"ceph.readAffinity"}}},
		},
		"Clock": {
			reason: "the mons' own judgement",
			change: func(r *rig) { r.ceph.SkewClock("c", -0.31) },
			want:   []expect{{group: "Ceph", name: "clocks", state: Wrong, message: []string{"mon c", "0.310 s"}, fix: "chronyc makestep"}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			tc.change(r)
			verify(t, r.run(), tc.want)
		})
	}
}

// TestHangingCeph: a Ceph that accepts and never answers is a line, not a hang.
func TestHangingCeph(t *testing.T) {
	r := newRig(t)
	r.config.CallTimeout = 20 * time.Millisecond
	dial := r.config.Dial
	r.config.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
		session, err := dial(ctx, source)
		r.ceph.Hang()
		return session, err
	}
	report := r.run()
	if report.State() != Wrong {
		t.Error("nothing is wrong with a Ceph that never answers")
	}
	for _, l := range report.Lines {
		if l.State == OK && l.Group != "Files" && !strings.HasPrefix(l.Name, "mon ") {
			t.Errorf("%s/%s is right: %s", l.Group, l.Name, l.Message)
		}
	}
}

// bareManager has no modules.
type bareManager struct{ Ceph }

func (c bareManager) Try(ctx context.Context, trial ceph.Trial) error {
	if trial.Manager {
		return &ceph.CommandError{Command: trial.Prefix, Errno: -22, Status: "No handler found for '" + trial.Prefix + "'"}
	}
	return c.Ceph.Try(ctx, trial)
}

// TestBareManager: seen with Ceph 18.2.7 whose modules Python could not load.
func TestBareManager(t *testing.T) {
	r := newRig(t)
	dial := r.config.Dial
	r.config.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
		session, err := dial(ctx, source)
		return bareManager{session}, err
	}
	verify(t, r.run(), []expect{
		{group: "Ceph", name: "modules", state: Wrong, message: []string{`"fs subvolume create" (module volumes is not loaded)`}, fix: "ceph health detail"},
	})
}

// failedManager has modules that failed, or that are off.
type failedManager struct{ Ceph }

func (c failedManager) Try(ctx context.Context, trial ceph.Trial) error {
	switch {
	case trial.Prefix == "rbd task add flatten":
		return &ceph.CommandError{Command: trial.Prefix, Errno: -5, Status: "Module 'rbd_support' has experienced an error and cannot handle commands: Python's text"}
	case trial.Manager:
		return &ceph.CommandError{Command: trial.Prefix, Errno: -95, Status: "Module 'volumes' is not enabled/loaded (required by command 'fs subvolume create')"}
	}
	return c.Ceph.Try(ctx, trial)
}

func TestFailedManager(t *testing.T) {
	r := newRig(t)
	r.config.Pool = "vms"
	dial := r.config.Dial
	r.config.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
		session, err := dial(ctx, source)
		return failedManager{session}, err
	}
	verify(t, r.run(), []expect{{
		group: "Ceph", name: "modules", state: Wrong, fix: "ceph mgr fail",
		message: []string{`"fs subvolume create" (module volumes is not loaded)`, `"rbd task add flatten" (module rbd_support has failed)`},
	}})
}

// slowOSDs answer only when several are asked at once.
type slowOSDs struct {
	Ceph
	asked chan struct{}
	all   sync.WaitGroup
}

func (c *slowOSDs) ObjectRights(ctx context.Context, pool, namespace string) (ceph.ObjectRights, error) {
	select {
	case c.asked <- struct{}{}:
		c.all.Done()
	default:
	}
	answered := make(chan struct{})
	go func() {
		c.all.Wait()
		close(answered)
	}()
	select {
	case <-answered:
		return c.Ceph.ObjectRights(ctx, pool, namespace)
	case <-ctx.Done():
		return ceph.ObjectRights{}, ceph.ErrTimeout
	}
}

// TestSlowOSDs: since Ceph 18 an OSD takes seconds to refuse, for each pool.
func TestSlowOSDs(t *testing.T) {
	r := newRig(t)
	r.ceph.AddPool(ceph.Pool{Name: "vms", Applications: []string{"rbd"}})
	r.as("x", readme)
	r.config.Pool = "vms"
	r.config.CallTimeout = 2 * time.Second
	dial := r.config.Dial
	r.config.Dial = func(ctx context.Context, source ceph.Source) (Ceph, error) {
		session, err := dial(ctx, source)
		// One for images, two of the filesystem.
		slow := &slowOSDs{Ceph: session, asked: make(chan struct{}, 3)}
		slow.all.Add(3)
		return slow, err
	}
	verify(t, r.run(), []expect{
		{group: "User", name: "passthrough RBD", state: OK},
		{group: "User", name: "passthrough CephFS", state: Unknown, message: []string{"not seen: mount filesystems (caps for mds);"}},
	})
}
