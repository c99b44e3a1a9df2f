package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestParseStartTicks(t *testing.T) {
	rest := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21"
	tests := map[string]struct {
		reason, stat string
		want         uint64
		fails        bool
	}{
		"Plain":       {reason: "field 22", stat: "10 (etcd) S" + rest, want: 4711},
		"OddName":     {reason: "a program may call itself anything", stat: "10 (a) R (b) S" + rest, want: 4711},
		"Zombie":      {reason: "what only waits to be reaped has ended", stat: "10 (etcd) Z" + rest, fails: true},
		"TooShort":    {reason: "no number is better than a wrong one", stat: "10 (etcd) S 1 2", fails: true},
		"NoProgramme": {reason: "text of another kind", stat: "hello", fails: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseStartTicks(tc.stat)
			if (err != nil) != tc.fails || got != tc.want {
				t.Errorf("%s: got %d, %v", tc.reason, got, err)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	folder := t.TempDir()
	group := NewGroup(folder, func(Record) error { return nil })
	t.Cleanup(group.Kill)
	p, err := group.Start("tail", "/usr/bin/tail", "-f", folder+"/tail.log")
	if err != nil {
		t.Fatal(err)
	}
	later := p.Record
	later.StartTicks++
	tests := map[string]struct {
		reason string
		record Record
		folder string
		want   bool
	}{
		"Same":        {reason: "the process itself", record: p.Record, folder: folder, want: true},
		"OtherStart":  {reason: "the number was given to another process", record: later, folder: folder},
		"OtherFolder": {reason: "the process belongs to another cluster", record: p.Record, folder: folder + "x"},
		"NoProcess":   {reason: "the number is free", record: Record{PID: 1 << 30}, folder: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.record.Alive(tc.folder); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
	p.Kill()
	if p.Alive(folder) {
		t.Error("a killed process counts as alive")
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("CEPH_ARGS", "--id nobody")
	t.Setenv("ETCD_NAME", "other")
	t.Setenv("KEPT", "yes")
	out, err := Output(t.Context(), "/usr/bin/env")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"CEPH_ARGS": false, "ETCD_NAME": false, "KEPT": true} {
		if got := strings.Contains(string(out), name+"="); got != want {
			t.Errorf("%s reaches a program: %t, want %t", name, got, want)
		}
	}
}

// TestOutputSaysWhatHung: which program, with which arguments, and who ended it why.
func TestOutputSaysWhatHung(t *testing.T) {
	errBoom := errors.New("boom")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errBoom)
	defer cancel()
	_, err := Output(ctx, "/usr/bin/sleep", "600")
	if !errors.Is(err, errBoom) || !strings.Contains(err.Error(), `sleep ["600"]`) {
		t.Errorf("says %v", err)
	}
}

func TestUnrecordedIsNotStarted(t *testing.T) {
	errBoom := errors.New("boom")
	var seen Record
	group := NewGroup(t.TempDir(), func(r Record) error {
		seen = r
		return errBoom
	})
	_, err := group.Start("sleep", "/bin/sleep", "600")
	if !errors.Is(err, errBoom) || seen.Alive("") || len(group.Running()) != 0 {
		t.Errorf("got %v, runs: %t", err, seen.Alive(""))
	}
}

func TestExitedShowsTheLog(t *testing.T) {
	group := NewGroup(t.TempDir(), func(Record) error { return nil })
	p, err := group.Start("failing", "/bin/sh", "-c", "echo cannot bind; sleep 0.05; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	for _, want := range []string{"failing", "exit status 3", "cannot bind"} {
		if got := p.Exited().Error(); !strings.Contains(got, want) {
			t.Errorf("error %q does not say %q", got, want)
		}
	}
}
