package operatorprocess

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// standIn is an operator that prints what it was started with and then behaves as told.
func standIn(t *testing.T, behaviour string) Config {
	t.Helper()
	dir := t.TempDir()
	binary := filepath.Join(dir, "operator")
	script := "#!/bin/sh\necho arguments: \"$@\"\n/usr/bin/env\necho started\n" + behaviour + "\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Config{Binary: binary, Driver: driver.RBD, Kubeconfig: "/kubeconfig", Dir: filepath.Join(dir, "rbd")}
}

const (
	waits   = `while :; do /bin/sleep 0.01; done`
	obeys   = `trap 'echo bye; exit 0' TERM; ` + waits
	ignores = `trap '' TERM; echo deaf; ` + waits
)

func start(t *testing.T, c Config) *Process {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.Exited() == nil {
			p.Kill()
		}
	})
	return p
}

// printed waits until the log has the text n times.
func printed(t *testing.T, p *Process, text string, n int) string {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for {
		content, err := os.ReadFile(p.LogFile())
		if err == nil && bytes.Count(content, []byte(text)) >= n {
			return string(content)
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("the log does not have %q %d times:\n%s", text, n, content)
		}
	}
}

func TestStartsAsItsDeploymentWould(t *testing.T) {
	t.Setenv("CEPH_ARGS", "--leaked")
	c := standIn(t, obeys)
	c.Env = map[string]string{"DRIVER_IMAGE": "other:1", "ATTACHER_IMAGE": ""}
	log := printed(t, start(t, c), "started", 1)
	for _, want := range []string{
		"arguments: start --driver=rbd --kubeconfig=/kubeconfig --config=" + c.Dir + "/config.yaml --namespace=openshift-cluster-csi-drivers -v=2\n",
		"\nPOD_NAME=ceph-rbd-csi-driver-operator-0\n",
		"\nOPERATOR_NAME=ceph-rbd-csi-driver-operator\n",
		"\nDRIVER_IMAGE=other:1\n",
		"\nKUBE_RBAC_PROXY_IMAGE=registry.example.com/",
		"\nTMPDIR=" + c.Dir + "/tmp\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in:\n%s", want, log)
		}
	}
	for _, unwanted := range []string{"ATTACHER_IMAGE", "CEPH_ARGS"} {
		if strings.Contains(log, unwanted) {
			t.Errorf("%q leaked in:\n%s", unwanted, log)
		}
	}
	config, err := os.ReadFile(filepath.Join(c.Dir, "config.yaml"))
	if err != nil || !bytes.Contains(config, []byte("bindAddress: 127.0.0.1:")) {
		t.Errorf("--config: %s, %v", config, err)
	}
}

func TestStopAsksAndRestartLogsOn(t *testing.T) {
	p := start(t, standIn(t, obeys))
	printed(t, p, "started", 1)
	if err := p.Restart(); err == nil || !strings.Contains(err.Error(), "runs already") {
		t.Errorf("Restart of a running one: %v", err)
	}
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Exited() == nil {
		t.Error("still runs after Stop")
	}
	if err := p.Restart(); err != nil {
		t.Fatal(err)
	}
	printed(t, p, "started", 2)
	p.Kill()
	if log := printed(t, p, "bye", 1); strings.Count(log, "bye") != 1 {
		t.Errorf("Kill must not ask first:\n%s", log)
	}
}

func TestStopKillsTheDeaf(t *testing.T) {
	p := start(t, standIn(t, ignores))
	printed(t, p, "deaf", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := p.Stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "ignored SIGTERM") || p.Exited() == nil {
		t.Errorf("Stop: %v; ended: %v", err, p.Exited())
	}
}

func TestBinaryThatIsMissing(t *testing.T) {
	t.Setenv("OPERATOR_BINARY", filepath.Join(t.TempDir(), "nothing"))
	if _, err := Binary(); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("the error must say what to do: %v", err)
	}
}
