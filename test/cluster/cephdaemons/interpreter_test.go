package cephdaemons

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPlain(t *testing.T) {
	tests := map[string]struct {
		reason    string
		arguments []string
		want      bool
	}{
		"Question":  {"a command of a mon", []string{"osd", "pool", "ls", "--format", "json"}, true},
		"Daemon":    {"one daemon by its name", []string{"tell", "mon.a", "sessions"}, true},
		"All":       {"each daemon's answer is printed", []string{"tell", "mon.*", "config", "get", "x"}, false},
		"File":      {"the answer is for a file", []string{"auth", "get", "mon.", "-o", "file"}, false},
		"LongFile":  {"the answer is for a file", []string{"mon", "getmap", "--out-file", "file"}, false},
		"Input":     {"a file is part of the command", []string{"osd", "setcrushmap", "-i", "file"}, false},
		"Option":    {"an option of the program", []string{"--version"}, false},
		"Socket":    {"it asks no mon", []string{"daemon", "mon.a", "status"}, false},
		"Arguments": {"there is nothing to ask", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plain(tc.arguments); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestPythonOf(t *testing.T) {
	tests := map[string]struct{ reason, content, want string }{
		"Installed": {"the distribution's program", "#! /usr/bin/python3\nimport sys\n", "/usr/bin/python3"},
		"Starter":   {"that of an unpacked release", "#!/bin/sh\nexec env PYTHONHOME=/root/usr\n", ""},
		"Env":       {"a command, not a program", "#!/usr/bin/env python3\n", ""},
		"Binary":    {"no script", "\x7fELF", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ceph")
			if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := pythonOf(file); got != tc.want {
				t.Errorf("%s: got %q", tc.reason, got)
			}
		})
	}
}

// checkInterpreter compares its answers with those of `ceph`.
func checkInterpreter(t *testing.T, c *Ceph) {
	t.Helper()
	if c.python == "" {
		return // An unpacked release has `ceph` alone.
	}
	if _, err := c.interpret(t.Context(), interpretTimeout, []string{"fsid"}); err != nil {
		t.Fatal(err)
	}
	first := slices.Clone(c.idle)
	for _, words := range []string{
		"osd pool ls", "osd pool ls detail --format json", "osd pool get rbd nodelete", "mon dump --format json", "auth get client.admin",
		"fs subvolumegroup ls " + Filesystem, "osd pool application get rbd --format=json",
		"osd pool get absent size", "auth get client.absent", "fs subvolume info " + Filesystem + " absent",
	} {
		arguments := strings.Fields(words)
		want, wantErr := c.tool(t.Context(), "ceph", arguments)
		got, err := c.interpret(t.Context(), interpretTimeout, arguments)
		if (err == nil) != (wantErr == nil) || err != nil && !strings.HasSuffix(wantErr.Error(), strings.SplitN(err.Error(), "]: ", 2)[1]) {
			t.Errorf("%s: %v, not as ceph: %v", words, err, wantErr)
		}
		if got, want := strings.TrimSpace(string(got)), strings.TrimSpace(string(want)); got != want {
			t.Errorf("%s: %s, not as ceph: %s", words, got, want)
		}
	}
	if out, err := c.interpret(t.Context(), interpretTimeout, []string{"osd", "pool", "sell"}); !errors.Is(err, errUnanswered) {
		t.Errorf("what is no command has the answer %s, %v", out, err)
	}
	if out, err := c.interpret(t.Context(), interpretTimeout, strings.Fields("tell mon.a sessions")); err != nil || !strings.Contains(string(out), "client.admin") {
		t.Errorf("sessions of a mon: %s, %v", out, err)
	}
	if !slices.Equal(c.idle, first) {
		t.Errorf("%d interpreters wait, not only the one that was asked first", len(c.idle))
	}
	checkLostInterpreters(t, c)
}

// checkLostInterpreters: what does not answer, or went by mons of before, keeps nobody from an answer.
func checkLostInterpreters(t *testing.T, c *Ceph) {
	t.Helper()
	hangs := c.idle[0]
	if err := hangs.process.Pause(); err != nil {
		t.Fatal(err)
	}
	if out, err := c.interpret(t.Context(), time.Second, []string{"fsid"}); !errors.Is(err, errUnanswered) {
		t.Errorf("what hangs answers %s, %v", out, err)
	}
	ask(t, c, "fsid")
	if slices.Contains(c.idle, hangs) {
		t.Error("what hung is asked again")
	}
	old, err := c.takeInterpreter()
	if err != nil {
		t.Fatal(err)
	}
	c.forgetInterpreters()
	if c.giveBack(old); len(c.idle) > 0 {
		t.Error("what went by the mons of before is asked again")
	}
	ask(t, c, "fsid")
}
