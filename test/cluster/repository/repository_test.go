package repository

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoot(t *testing.T) {
	want, ok := rootAbove(mustGetwd(t))
	if !ok || filepath.Base(filepath.Dir(mustGetwd(t))) != "cluster" {
		t.Fatalf("no root above %s", mustGetwd(t))
	}
	t.Run("FromBelow", func(t *testing.T) {
		if got, err := Root(); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	})
	t.Run("FromAnotherModule", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/other\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := rootAbove(dir); ok {
			t.Errorf("took %s for the repository", got)
		}
	})
}

func TestPackageDir(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := PackageDir(t.Context(), root, "github.com/openshift/api/config/v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "types_infrastructure.go")); err != nil {
		t.Error(err)
	}
	vendored := filepath.Join(t.TempDir(), "vendor", "example.com", "pkg")
	if err := os.MkdirAll(vendored, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := PackageDir(t.Context(), filepath.Dir(filepath.Dir(filepath.Dir(vendored))), "example.com/pkg")
	if err != nil || got != vendored {
		t.Errorf("got %s, %v, want the vendored %s", got, err, vendored)
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestReadmeCommand(t *testing.T) {
	if got, err := ReadmeCommand("e2e.test "); err != nil || !strings.HasPrefix(got, "e2e.test -kubeconfig=") {
		t.Errorf("got %q, %v", got, err)
	}
	for start, reason := range map[string]string{"no-such-program": "there is none", "make": "there are several"} {
		if got, err := ReadmeCommand(start); err == nil {
			t.Errorf("%s, yet got %q", reason, got)
		}
	}
}

// TestCommands: suites go by the commands of the README, whichever way it is written.
func TestCommands(t *testing.T) {
	commands, err := OpenShiftCommands()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ReadmeCommands()
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range plain {
		commands = append(commands, "kubectl "+strings.Join(arguments, " "))
	}
	want := []string{
		"oc patch crd clustercsidrivers.operator.openshift.io ", "oc apply -f bin/release/",
		"oc create secret generic ceph-credentials ",
		"kubectl apply -f bin/release/kubernetes/", "kubectl create secret generic ceph-credentials ", "kubectl get clusteroperator storage --watch",
	}
	if len(commands) != len(want) {
		t.Fatalf("got %q", commands)
	}
	for i, start := range want {
		if !strings.HasPrefix(commands[i], start) {
			t.Errorf("got %q, want what begins with %q", commands[i], start)
		}
	}
}
