package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/sidecar"
	"github.com/openshift/ceph-csi-driver-operator/test/standins/standintest"
)

const (
	driverName    = "rbd.csi.ceph.com"
	kubeletSocket = "/var/lib/kubelet/plugins/rbd.csi.ceph.com/csi.sock"
)

func TestMain(m *testing.M) { standintest.Main(m, main) }

// started registers a driver with a kubelet that the test is; arguments are further ones.
func started(t *testing.T, arguments ...string) (*standintest.Program, string) {
	t.Helper()
	dir := t.TempDir()
	csi, registry := filepath.Join(dir, "csi.sock"), filepath.Join(dir, driverName+"-reg.sock")
	(&standintest.Driver{Name: driverName}).Serve(t, csi)
	arguments = append(arguments, "--csi-address="+csi, "--kubelet-registration-path="+kubeletSocket, "--plugin-registration-path="+dir, "--v=2")
	p := standintest.Start(t, arguments...)
	p.Eventually(t, "its socket is there", func() bool { _, err := os.Stat(registry); return err == nil })
	return p, registry
}

func kubelet(t *testing.T, socket string) registration.RegistrationClient {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := sidecar.Connect(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return registration.NewRegistrationClient(conn)
}

func TestRegistration(t *testing.T) {
	p, socket := started(t)
	info, err := kubelet(t, socket).GetInfo(t.Context(), &registration.InfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{info.Type, info.Name, info.Endpoint, strings.Join(info.SupportedVersions, ",")}
	if diff := cmp.Diff([]string{registration.CSIPlugin, driverName, kubeletSocket, "1.0.0"}, got); diff != "" {
		t.Error(diff)
	}
	if mode := mustStat(t, socket).Mode().Perm(); mode != 0o700 {
		t.Errorf("others than its owner may use the socket: %o", mode)
	}
	if _, err := kubelet(t, socket).NotifyRegistrationStatus(t.Context(), &registration.RegistrationStatus{PluginRegistered: true}); err != nil {
		t.Error(err)
	}
	p.Signal(t, syscall.SIGTERM)
	if code := p.Exit(t); code != 0 {
		t.Errorf("ended with %d on SIGTERM", code)
	}
	if _, err := os.Stat(socket); err == nil {
		t.Error("left its socket, at which the kubelet would go on asking")
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestRefusedByKubelet: it ends, so that the pod starts it again.
func TestRefusedByKubelet(t *testing.T) {
	p, socket := started(t)
	_, _ = kubelet(t, socket).NotifyRegistrationStatus(t.Context(), &registration.RegistrationStatus{Error: "no such plugin"})
	if code := p.Exit(t); code != 1 || !strings.Contains(p.Output(), "no such plugin") {
		t.Errorf("exit code %d, output %s", code, p.Output())
	}
}

func TestHealth(t *testing.T) {
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/healthz", ports[0])
	code := func() int {
		response, err := http.Get(url)
		if err != nil {
			return 0
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	p, socket := started(t, fmt.Sprintf("--http-endpoint=127.0.0.1:%d", ports[0]))
	p.Eventually(t, "it is healthy", func() bool { return code() == http.StatusOK })
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	if got := code(); got != http.StatusNotFound {
		t.Errorf("without a socket it answers %d", got)
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
		"NoPath":      {reason: "the kubelet must know where the driver is", code: 1, says: "kubelet-registration-path is a required parameter"},
		"TwoPorts":    {reason: "one of them would be without effect", arguments: []string{"--kubelet-registration-path=/x", "--health-port=1", "--http-endpoint=:2"}, code: 1, says: "Only one of"},
		"ProbeMode":   {reason: "it once probed, and does nothing now", arguments: []string{"--kubelet-registration-path=/x", "--mode=kubelet-registration-probe"}},
		"Version":     {reason: "it is asked for", arguments: []string{"--version"}, says: "stand-in"},
		"NoFolder":    {reason: "a mount that is missing", arguments: []string{"--kubelet-registration-path=/x", "--plugin-registration-path=/nowhere", "--csi-address=CSI"}, code: 1, says: "Failed to listen on socket"},
		"Maxprocs":    {reason: "no boolean", arguments: []string{"--automaxprocs=many"}, code: 2, says: "invalid boolean value"},
	}
	csi := filepath.Join(t.TempDir(), "csi.sock")
	(&standintest.Driver{Name: driverName}).Serve(t, csi)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for i, argument := range tc.arguments {
				tc.arguments[i] = strings.Replace(argument, "=CSI", "="+csi, 1)
			}
			p := standintest.Start(t, tc.arguments...)
			if code := p.Exit(t); code != tc.code || !strings.Contains(p.Output(), tc.says) {
				t.Errorf("%s: exit code %d, want %d and %q in: %s", tc.reason, code, tc.code, tc.says, p.Output())
			}
		})
	}
}
