// Package embedded is a whole cluster on this machine: a real Kubernetes control plane with fake
// nodes that looks like OpenShift, beside a real Ceph. Copies run side by side.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/process"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/standins"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/statedir"
)

// Cluster is a running one. Its methods may be called at the same time.
type Cluster struct {
	*openshift.OpenShift
	*standins.StandIns

	options      Options
	dir          *statedir.Dir
	daemons      *process.Group
	programs     programs.Installed
	admin        *rest.Config
	controlPlane *controlplane.ControlPlane
	ceph         *cephdaemons.Ceph
	nodes        *node.Nodes
	nodesReady   time.Duration
	stopStandIns func()

	stop sync.Once
	err  error
}

// Dir is the folder of the cluster's state; logs are in its subfolder logs.
func (c *Cluster) Dir() string { return c.dir.Path() }

// AdminConfig is a client configuration that may do everything, without a rate limit.
func (c *Cluster) AdminConfig() *rest.Config { return rest.CopyConfig(c.admin) }

// AdminKubeconfig is the path of a kubeconfig that may do everything.
func (c *Cluster) AdminKubeconfig() string { return c.controlPlane.AdminKubeconfig }

// AuditLog is the path of a file with one JSON line (audit.k8s.io/v1 Event, level Metadata) per request
// of anyone but the control plane itself.
func (c *Cluster) AuditLog() string { return c.controlPlane.AuditLog }

// ServingFiles are the paths of the API server's certificate and its key, for who stands in for it.
func (c *Cluster) ServingFiles() (certificate, key string) { return c.controlPlane.ServingFiles() }

// StopAPIServer has everybody lose the API server, until RestartAPIServer.
func (c *Cluster) StopAPIServer() { c.controlPlane.StopServer() }

// RestartAPIServer brings it back and returns when it is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	return c.controlPlane.RestartServer(ctx)
}

// SaveEtcd makes a backup of all that the API server has; see RestoreEtcd.
func (c *Cluster) SaveEtcd(ctx context.Context) error { return c.controlPlane.SaveEtcd(ctx) }

// RestoreEtcd takes the control plane back to the last SaveEtcd. Ceph and the operators stay as they are.
func (c *Cluster) RestoreEtcd(ctx context.Context) error { return c.controlPlane.RestoreEtcd(ctx) }

// Kubectl is the path of a kubectl of the cluster's version.
func (c *Cluster) Kubectl() string { return c.programs.Path("kubectl") }

// Nodes are the real ones; nil in a cluster of fake ones.
func (c *Cluster) Nodes() *node.Nodes { return c.nodes }

// NodesReady is how long real nodes took from their start until all were ready.
func (c *Cluster) NodesReady() time.Duration { return c.nodesReady }

// Ceph is nil in a cluster without one.
func (c *Cluster) Ceph() *cephdaemons.Ceph { return c.ceph }

// PIDs are the processes of the running daemons, by name.
func (c *Cluster) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range c.daemons.Running() {
		pids[p.Name] = p.PID
	}
	return pids
}

// KeepState makes Stop leave Dir as it is, for whoever looks into a failure.
func (c *Cluster) KeepState() { c.options.Keep = true }

// Stop ends everything and removes Dir unless it is to be kept. It may be called more than once.
func (c *Cluster) Stop() error {
	c.stop.Do(func() {
		if c.stopStandIns != nil {
			c.stopStandIns()
		}
		if c.nodes != nil {
			c.err = c.nodes.Stop()
		}
		c.daemons.Kill()
		if c.options.Keep {
			c.err = errors.Join(c.err, c.dir.Release())
			return
		}
		c.err = errors.Join(c.err, c.dir.Remove())
	})
	return c.err
}

// Client is a clientset of AdminConfig.
func (c *Cluster) Client() (kubernetes.Interface, error) { return kubernetes.NewForConfig(c.admin) }

// fail stops what has started and keeps the folder.
func (c *Cluster) fail(err error) error {
	c.KeepState()
	return errors.Join(fmt.Errorf("starting the cluster (its state and logs stay in %s): %w", c.Dir(), err), c.Stop())
}

func newCluster(o Options) (*Cluster, error) {
	dir, err := statedir.Create(o.Dir)
	if err != nil {
		return nil, err
	}
	logs := filepath.Join(dir.Path(), "logs")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	return &Cluster{options: o, dir: dir, daemons: process.NewGroup(logs, dir.Add)}, nil
}

func (c *Cluster) logs() string { return filepath.Join(c.Dir(), "logs") }

func (c *Cluster) say(format string, arguments ...any) {
	fmt.Fprintf(c.options.Log, format+"\n", arguments...)
}

// startStandIns runs them until Stop.
func (c *Cluster) startStandIns() error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	waits := []func(){standins.StartRegistrations(ctx, client, c.options.Log)}
	c.stopStandIns = func() {
		cancel()
		for _, wait := range waits {
			wait()
		}
	}
	if c.options.Plain {
		return nil
	}
	running, wait, err := standins.Start(ctx, client, c.options.TrustedCABundle, c.options.Log)
	if err != nil {
		c.stopStandIns()
		c.stopStandIns = nil
		return err
	}
	c.StandIns, waits = running, append(waits, wait)
	return nil
}
