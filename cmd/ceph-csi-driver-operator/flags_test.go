package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEmptyFlags: a flag whose shell variable is not set must not mean that it was left out: a cluster would not be
// looked at, or more be removed than was meant.
func TestEmptyFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ceph := []string{"--ceph-conf=" + file, "--keyring=" + file}
	teardown := append([]string{"teardown", "--infra-id=a"}, ceph...)
	tests := map[string]struct {
		args []string
		want string
		code int
	}{
		"Check":          {append([]string{"check", "--kubeconfig="}, ceph...), "--kubeconfig is empty: is $KUBECONFIG set?", 2},
		"CheckWatched":   {[]string{"check", "--watch", "--kubeconfig="}, "--kubeconfig is empty: is $KUBECONFIG set?", 2},
		"CheckPool":      {append([]string{"check", "--pool="}, ceph...), "--pool is empty", 2},
		"Teardown":       {append(teardown, "--kubeconfig="), "--kubeconfig is empty: is $KUBECONFIG set?", 2},
		"TeardownVolume": {append(teardown, "--volume="), "--volume is empty: is $VOLUME set?", 2},
		"TeardownPVList": {append(teardown, "--pv-list="), "--pv-list is empty: is $PV_LIST set?", 2},
		"Uninstall":      {[]string{"uninstall", "--kubeconfig="}, "--kubeconfig is empty: is $KUBECONFIG set?", 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(tc.args)
			cmd.SetOut(&bytes.Buffer{})
			cmd.SetErr(&bytes.Buffer{})
			err := cmd.ExecuteContext(t.Context())
			code := 1
			if e := (exit{}); errors.As(err, &e) {
				code = e.code
			}
			if err == nil || code != tc.code || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (code %d), want %q and code %d", err, code, tc.want, tc.code)
			}
		})
	}
}
