package embedded

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephdaemons"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephrelease"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/controlplane"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

// Start returns a cluster that is ready for use. The first start on a machine builds the control plane,
// which takes minutes. ctx ends the start only: the caller ends the cluster with Stop. When the start
// fails, nothing runs any more and the folder with the logs stays.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	o = o.withDefaults()
	o.Log = &lines{to: o.Log}
	root, err := repository.Root()
	if err != nil {
		return nil, err
	}
	if !o.WithoutCeph {
		// Before minutes of building.
		if _, err := cephrelease.Chosen(ctx, o.Log); err != nil {
			return nil, err
		}
	}
	installed, err := programs.Ensure(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	c, err := newCluster(o)
	if err != nil {
		return nil, err
	}
	c.programs = installed
	err = c.startAll(ctx, root)
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), c.Stop())
	}
	if err != nil {
		return nil, c.fail(err)
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context, root string) error {
	begin := time.Now()
	c.say("Starting in %s", c.Dir())
	if err := c.connectNodes(ctx); err != nil {
		return err
	}
	// Not the group's own context: one half's failure must not hide behind the other's "canceled".
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group errgroup.Group
	group.Go(func() error { return cancelling(cancel, c.startKubernetes(ctx, root, begin)) })
	if !c.options.WithoutCeph {
		group.Go(func() error { return cancelling(cancel, c.startCeph(ctx, begin)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := c.joinNodes(ctx, begin); err != nil {
		return err
	}
	c.say("Ready after %.1f s", time.Since(begin).Seconds())
	return nil
}

func cancelling(cancel context.CancelCauseFunc, err error) error {
	if err != nil {
		cancel(err)
	}
	return err
}

func (c *Cluster) startKubernetes(ctx context.Context, root string, begin time.Time) error {
	var err error
	c.controlPlane, err = controlplane.Start(ctx, controlplane.Options{
		Dir: filepath.Join(c.Dir(), "kubernetes"), Logs: c.logs(), Programs: c.programs, Daemons: c.daemons, Address: c.address(),
	})
	if err != nil {
		return fmt.Errorf("starting Kubernetes: %w", err)
	}
	c.say("Kubernetes answers after %.1f s", time.Since(begin).Seconds())
	if c.admin, err = controlplane.ClientConfig(c.AdminKubeconfig()); err != nil {
		return err
	}
	if c.options.Plain {
		if err := openshift.CreatePlain(ctx, c.admin, c.options.nodes(), c.programs.SnapshotCRDs()); err != nil {
			return fmt.Errorf("giving Kubernetes nodes and CRDs: %w", err)
		}
		if err := c.startStandIns(); err != nil {
			return err
		}
		c.say("%d fake nodes of a Kubernetes without OpenShift after %.1f s", c.options.Masters+c.options.Workers, time.Since(begin).Seconds())
		return nil
	}
	c.OpenShift, err = openshift.Create(ctx, c.admin, openshift.Look{
		InfrastructureName: c.options.InfrastructureName,
		Platform:           c.options.Platform,
		Topology:           c.options.ControlPlaneTopology,
		Nodes:              c.options.nodes(),
		APIServer:          c.admin.Host,
		Repository:         root,
		SnapshotCRDs:       c.programs.SnapshotCRDs(),
		OperatorRBAC:       !c.options.WithoutOperatorRBAC,
	})
	if err != nil {
		return fmt.Errorf("making Kubernetes look like OpenShift: %w", err)
	}
	if err := c.startStandIns(); err != nil {
		return err
	}
	c.say("%d fake masters and %d fake workers look like OpenShift after %.1f s", c.options.Masters, c.options.Workers, time.Since(begin).Seconds())
	return nil
}

func (c *Cluster) startCeph(ctx context.Context, begin time.Time) error {
	ceph, err := cephdaemons.Start(ctx, cephdaemons.Options{
		Dir: filepath.Join(c.Dir(), "ceph"), Mons: c.options.Mons, WithoutFilesystem: c.options.WithoutFilesystem, Daemons: c.daemons, Address: c.address(),
	})
	if err != nil {
		return fmt.Errorf("starting Ceph: %w", err)
	}
	c.ceph = ceph
	c.say("Ceph serves after %.1f s", time.Since(begin).Seconds())
	return nil
}

// lines keeps lines of concurrent writers whole.
type lines struct {
	mu sync.Mutex
	to interface{ Write([]byte) (int, error) }
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}
