package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/standintest"
)

func TestMain(m *testing.M) { standintest.Main(m, main) }

func port(t *testing.T) string {
	t.Helper()
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(ports[0])
}

// get returns code and body; code 0 means that nobody listens.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestProbes(t *testing.T) {
	tests := map[string]struct {
		reason string
		health standintest.Health
		code   int
		says   string
	}{
		"Silent":   {reason: "a driver that says nothing is ready", health: standintest.Silent, code: 200, says: "ok"},
		"Ready":    {reason: "it says so", health: standintest.Ready, code: 200, says: "ok"},
		"NotReady": {reason: "it says so", health: standintest.NotReady, code: 500, says: "not ready"},
		"Failing":  {reason: "it answers with an error", health: standintest.Failing, code: 500, says: "no Ceph"},
		"Hanging":  {reason: "it does not answer in time", health: standintest.Hanging, code: 500, says: "DeadlineExceeded"},
	}
	socket, at := filepath.Join(t.TempDir(), "csi.sock"), port(t)
	url := "http://127.0.0.1:" + at + "/healthz"
	p := standintest.Start(t, "--csi-address="+socket, "--health-port="+at, "--probe-timeout=500ms", "--v=2")
	if code, body := get(t, url); code != 0 {
		t.Errorf("answers %d (%s) before there is a driver", code, body)
	}
	d := &standintest.Driver{Name: "rbd.csi.ceph.com"}
	d.Serve(t, socket)
	p.Eventually(t, "it serves", func() bool { code, _ := get(t, url); return code != 0 })
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d.Become(tc.health)
			if code, body := get(t, url); code != tc.code || !strings.Contains(body, tc.says) {
				t.Errorf("%s: got %d %q, want %d %q", tc.reason, code, body, tc.code, tc.says)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	socket, at := filepath.Join(t.TempDir(), "csi.sock"), port(t)
	(&standintest.Driver{Name: "rbd.csi.ceph.com"}).Serve(t, socket)
	p := standintest.Start(t, "--csi-address="+socket, "--http-endpoint=127.0.0.1:"+at)
	p.Eventually(t, "it serves", func() bool { code, _ := get(t, "http://127.0.0.1:"+at+"/healthz"); return code == 200 })
	want := `csi_sidecar_operations_seconds_count{driver_name="rbd.csi.ceph.com",grpc_status_code="OK",method_name="/csi.v1.Identity/Probe"}`
	if code, body := get(t, "http://127.0.0.1:"+at+"/metrics"); code != 200 || !strings.Contains(body, want) {
		t.Errorf("got %d %s, want %s in it", code, body, want)
	}
}

func TestRefusals(t *testing.T) {
	tests := map[string]struct {
		reason    string
		arguments []string
		code      int
		says      string
	}{
		"UnknownFlag": {reason: "a flag of another sidecar", arguments: []string{"--leader-election=true"}, code: 2, says: "flag provided but not defined: -leader-election"},
		"NewerFlag":   {reason: "2.15 does not have it", arguments: []string{"--automaxprocs"}, code: 2, says: "flag provided but not defined"},
		"BadValue":    {reason: "a number without unit", arguments: []string{"--probe-timeout=3"}, code: 2, says: "invalid value"},
		"TwoPorts":    {reason: "one of them would be without effect", arguments: []string{"--health-port=1", "--http-endpoint=:2"}, code: 1, says: "Only one of"},
		"TwoMetrics":  {reason: "one of them would be without effect", arguments: []string{"--metrics-address=:1", "--http-endpoint=:2"}, code: 1, says: "Only one of"},
		"Format":      {reason: "no such format", arguments: []string{"--logging-format=xml"}, code: 1, says: "LoggingConfiguration is invalid"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := standintest.Start(t, tc.arguments...)
			if code := p.Exit(t); code != tc.code || !strings.Contains(p.Output(), tc.says) {
				t.Errorf("%s: exit code %d, want %d and %q in: %s", tc.reason, code, tc.code, tc.says, p.Output())
			}
		})
	}
}
