// Package controlplane runs etcd, kube-apiserver, kube-controller-manager, kube-scheduler and
// KWOK on loopback.
package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// startTimeout is far above what a machine needs that runs other suites meanwhile.
const startTimeout = 5 * time.Minute

// Loopback is where everything listens that no real node needs.
const Loopback = "127.0.0.1"

// FakeNodeAnnotation and FakeNode mark the nodes that KWOK plays the kubelet of.
const (
	FakeNodeAnnotation = "kwok.x-k8s.io/node"
	FakeNode           = "fake"
)

// Options say where and how to run; all but Address are required.
type Options struct {
	Dir, Logs string
	Programs  programs.Installed
	Daemons   *process.Group
	// Address is where the API server listens; empty means loopback. Real nodes and their pods
	// reach it there.
	Address string
}

// ControlPlane is a running one.
type ControlPlane struct {
	options Options
	pki     pki
	server  string
	// ports are etcd's two and the API server's.
	ports []int
	etcd  *process.Process
	// apiserver and kwok are replaced by RestartServer, manager and scheduler by RestoreEtcd.
	apiserver, kwok, manager, scheduler *process.Process
	// AuditLog has one JSON line per request of anyone but the control plane itself.
	AuditLog string
	// AdminKubeconfig is the path of a kubeconfig that may do everything.
	AdminKubeconfig string
}

// ServingFiles are the paths of the API server's certificate and its key.
func (c *ControlPlane) ServingFiles() (certificate, key string) {
	return c.pki.file("apiserver.crt"), c.pki.file("apiserver.key")
}

// Start returns when the API server is ready and the other programs run. Who stops the process group
// stops the control plane.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	ports, err := process.FreePorts(3)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	if o.Address == "" {
		o.Address = Loopback
	}
	keys, err := newPKI(filepath.Join(o.Dir, "pki"), o.Address)
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{
		options:  o,
		pki:      keys,
		server:   fmt.Sprintf("https://%s:%d", o.Address, ports[2]),
		ports:    ports,
		AuditLog: filepath.Join(o.Logs, "audit.log"),
	}
	if err := c.prepareServer(); err != nil {
		return nil, err
	}
	if err := c.startServer(ctx); err != nil {
		return nil, err
	}
	for _, start := range []func() error{c.startControllerManager, c.startScheduler, c.startKWOK} {
		if err := start(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// prepareServer starts etcd and writes what the API server and its administrator need.
func (c *ControlPlane) prepareServer() error {
	var err error
	if c.etcd, err = c.startEtcd(c.ports[0], c.ports[1]); err != nil {
		return err
	}
	if err := c.writeAuditPolicy(); err != nil {
		return err
	}
	c.AdminKubeconfig, err = c.CertificateKubeconfig("admin", "system:masters")
	return err
}

func (c *ControlPlane) startServer(ctx context.Context) error {
	var err error
	if c.apiserver, err = c.startAPIServer(c.ports[0], c.ports[2]); err != nil {
		return err
	}
	admin, err := ClientConfig(c.AdminKubeconfig)
	if err != nil {
		return err
	}
	return waitReady(ctx, admin, c.etcd, c.apiserver)
}

// StopServer kills the API server: whoever talks to it is disconnected and refused, until
// RestartServer. Nodes and pods stay as they are meanwhile.
func (c *ControlPlane) StopServer() {
	c.kwok.Kill()
	c.apiserver.Kill()
}

// RestartServer brings the API server back with the address and all that it had, and returns
// when it is ready. KWOK starts anew: it does not watch pods again by itself.
func (c *ControlPlane) RestartServer(ctx context.Context) error {
	if err := c.startServer(ctx); err != nil {
		return err
	}
	return c.startKWOK()
}

// waitReady waits for /readyz, which includes the roles and priority classes that the API server
// makes itself. It gives up when one of the processes ends.
func waitReady(ctx context.Context, config *rest.Config, processes ...*process.Process) error {
	client, err := rest.UnversionedRESTClientFor(forHealth(config))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		_, err := client.Get().AbsPath("/readyz").Timeout(5 * time.Second).DoRaw(ctx)
		if err == nil {
			return nil
		}
		for _, p := range processes {
			if exited := p.Exited(); exited != nil {
				return exited
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver is not ready: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
