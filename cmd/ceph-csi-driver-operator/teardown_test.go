package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/pkg/teardown"
)

// TestTeardownMistakes end with exit code 2, before anything is contacted.
func TestTeardownMistakes(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good := []string{"--ceph-conf=" + empty, "--keyring=" + empty}
	tests := map[string]struct {
		args []string
		want string
	}{
		"NoInfraID":    {good, "--infra-id"},
		"EmptyInfraID": {append([]string{"--infra-id="}, good...), "--infra-id"},
		"BlankInfraID": {append([]string{"--infra-id= "}, good...), "--infra-id"},
		"BlankAround":  {append([]string{"--infra-id=a "}, good...), "blank"},
		"RooksUsers":   {append([]string{"--infra-id=12"}, good...), "client.csi-rbd-node.12"},
		"OtherForced":  {append([]string{"--infra-id=a", "--force-living=b"}, good...), "repeat --infra-id=a"},
		"ListOfOne":    {append([]string{"--list", "--infra-id=a"}, good...), "--list"},
		"NoConf":       {[]string{"--infra-id=a", "--keyring=" + empty}, "--ceph-conf"},
		"NoKeyring":    {[]string{"--infra-id=a", "--ceph-conf=" + empty}, "--keyring"},
		"NoSuchFile":   {[]string{"--infra-id=a", "--ceph-conf=/none/x", "--keyring=" + empty}, "/none/x"},
		"EmptyConf":    {append([]string{"--infra-id=a"}, good...), "ceph.conf is empty"},
		"Output":       {append([]string{"--infra-id=a", "-o", "xml"}, good...), "table or json"},
		"NoWorkers":    {append([]string{"--infra-id=a", "--parallel=0"}, good...), "--parallel=0"},
		"TooMany":      {append([]string{"--infra-id=a", "--parallel=1000"}, good...), "--parallel=1000"},
		"UnknownFlag":  {append([]string{"--infra-id=a", "--pools=x"}, good...), "--pools"},
		"Argument":     {append([]string{"--infra-id=a", "pvc-1"}, good...), "pvc-1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(append([]string{"teardown"}, tc.args...))
			cmd.SetOut(&bytes.Buffer{})
			cmd.SetErr(&bytes.Buffer{})
			err := cmd.ExecuteContext(t.Context())
			var e exit
			if !errors.As(err, &e) || e.code != teardown.CodeNotRun || !strings.Contains(e.Error(), tc.want) {
				t.Errorf("got %v (code %d), want %q and code %d", err, e.code, tc.want, teardown.CodeNotRun)
			}
		})
	}
}

// TestUninstallByDigits: nothing is contacted.
func TestUninstallByDigits(t *testing.T) {
	cmd := newCommand()
	cmd.SetArgs([]string{"uninstall", "--infra-id=1", "--kubeconfig=/none/x"})
	cmd.SetOut(&bytes.Buffer{})
	cmd.SetErr(&bytes.Buffer{})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "client.csi-rbd-node.1") {
		t.Errorf("got %v", err)
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"yes\n": true, " yes \n": true, "y\n": false, "": false, "no\nyes\n": false, "YES\n": false} {
		var out bytes.Buffer
		if got := confirm(strings.NewReader(answer), &out, "Remove 3 images?"); got != want {
			t.Errorf("%q counts as %t", answer, got)
		}
		if out.String() != "Remove 3 images? Type yes: " {
			t.Errorf("asked %q", out.String())
		}
	}
}

// TestNamedByALivingCluster: who removes what the copy of a living cluster has left types the infra ID of
// both, and means that the living one keeps its own.
func TestNamedByALivingCluster(t *testing.T) {
	ours, shown, others := teardown.Item{Name: "ours"}, teardown.Item{Name: "shown"}, teardown.Item{Name: "others"}
	tests := map[string]struct {
		flags teardownFlags
		want  []bool
		err   string
	}{
		"Another":      {teardownFlags{infraID: "b"}, []bool{true, true, true}, ""},
		"Same":         {teardownFlags{infraID: "a"}, []bool{false, false, true}, ""},
		"SameLives":    {teardownFlags{infraID: "a", forceLiving: "a"}, []bool{true, true, true}, ""},
		"Single":       {teardownFlags{infraID: "a", volumes: []string{"x"}}, []bool{true, true, true}, ""},
		"Orphans":      {teardownFlags{infraID: "a", orphans: true}, []bool{false, true, true}, ""},
		"OtherOrphans": {teardownFlags{infraID: "b", orphans: true}, nil, `of cluster "a"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			living := &teardown.LivingCluster{InfraID: "a", Ours: teardown.NewLiving(), Others: teardown.NewLiving(), Shown: teardown.NewLiving(), Retained: teardown.NewLiving()}
			living.Ours.Add("PersistentVolume x", "ours")
			living.Shown.Add("PersistentVolume x", "", "shown")
			living.Retained.Add("PersistentVolume x", "ours")
			living.Others.Add("PersistentVolume y", "others")
			var o teardown.Options
			named, err := tc.flags.named(&o, living)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v", err)
				}
				return
			}
			for n, item := range []teardown.Item{ours, shown, others} {
				refused := slices.ContainsFunc(named, func(l *teardown.Living) bool { return l.Names(item) != "" })
				if err != nil || refused != tc.want[n] {
					t.Errorf("%s: refused is %t, %v", item.Name, refused, err)
				}
			}
			if tied := o.Ours != nil; tied != (tc.flags.infraID == "a") {
				t.Fatalf("taken for the cluster itself: %t", tied)
			} else if tied && (!o.Ours(ours) || o.Ours(shown) || !o.Retained(ours) || o.Retained(others)) {
				t.Error("the cluster's own volumes are others")
			}
		})
	}
}
