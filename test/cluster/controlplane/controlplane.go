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

// FakeNodeAnnotation and FakeNode mark the nodes that KWOK plays the kubelet of.
const (
	FakeNodeAnnotation = "kwok.x-k8s.io/node"
	FakeNode           = "fake"
)

// Options say where and how to run; all are required.
type Options struct {
	Dir, Logs string
	Programs  programs.Installed
	Daemons   *process.Group
}

// ControlPlane is a running one.
type ControlPlane struct {
	options Options
	pki     pki
	server  string
	// AuditLog has one JSON line per request of anyone but the control plane itself.
	AuditLog string
	// AdminKubeconfig is the path of a kubeconfig that may do everything.
	AdminKubeconfig string
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
	keys, err := newPKI(filepath.Join(o.Dir, "pki"))
	if err != nil {
		return nil, err
	}
	c := &ControlPlane{
		options:  o,
		pki:      keys,
		server:   fmt.Sprintf("https://127.0.0.1:%d", ports[2]),
		AuditLog: filepath.Join(o.Logs, "audit.log"),
	}
	if err := c.startServer(ctx, ports); err != nil {
		return nil, err
	}
	for _, start := range []func() error{c.startControllerManager, c.startScheduler, c.startKWOK} {
		if err := start(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *ControlPlane) startServer(ctx context.Context, ports []int) error {
	etcd, err := c.startEtcd(ports[0], ports[1])
	if err != nil {
		return err
	}
	if err := c.writeAuditPolicy(); err != nil {
		return err
	}
	apiserver, err := c.startAPIServer(ports[0], ports[2])
	if err != nil {
		return err
	}
	if c.AdminKubeconfig, err = c.CertificateKubeconfig("admin", "system:masters"); err != nil {
		return err
	}
	admin, err := ClientConfig(c.AdminKubeconfig)
	if err != nil {
		return err
	}
	return waitReady(ctx, admin, etcd, apiserver)
}

// waitReady waits for /readyz, which includes the roles and priority classes that the API server
// makes itself. It gives up when one of the processes ends.
func waitReady(ctx context.Context, config *rest.Config, processes ...*process.Process) error {
	client, err := rest.UnversionedRESTClientFor(forHealth(config))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
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
