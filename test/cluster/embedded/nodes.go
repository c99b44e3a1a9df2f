package embedded

import (
	"context"
	"fmt"
	"time"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/openshift"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
)

// connectNodes gives real nodes their network, before anything listens on it.
func (c *Cluster) connectNodes(ctx context.Context) error {
	if c.options.RealNodes == 0 {
		return nil
	}
	installed, err := programs.EnsureNodes(ctx, c.options.Log)
	if err != nil {
		return err
	}
	c.nodes, err = node.Connect(ctx, node.Options{
		Dir: c.Dir(), Count: c.options.RealNodes, Cleanup: c.dir.AddCleanup,
		Software: wire.Software{
			Kubelet: installed.Path("kubelet"), KubeProxy: installed.Path("kube-proxy"), DNS: installed.Path(programs.DNS),
			Sandbox: c.options.Sandbox, Images: c.options.Images,
		},
	})
	return err
}

// address is where real nodes reach what runs beside them; empty without any.
func (c *Cluster) address() string {
	if c.nodes == nil {
		return ""
	}
	return c.nodes.Address()
}

func (c *Cluster) joinNodes(ctx context.Context, begin time.Time) error {
	if c.nodes == nil {
		return nil
	}
	client, err := c.Client()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := c.nodes.Join(ctx, c.controlPlane, client, c.nodeLabels); err != nil {
		return fmt.Errorf("starting real nodes: %w", err)
	}
	c.nodesReady = time.Since(start)
	c.say("%d real nodes are ready after %.1f s", c.options.RealNodes, time.Since(begin).Seconds())
	return nil
}

// nodeLabels are those of a compact OpenShift, whose masters are workers too, or of a Kubernetes
// with one node for the control plane.
func (c *Cluster) nodeLabels(i int) map[string]string {
	if !c.options.Plain {
		return openshift.CompactLabels()
	}
	if i == 0 {
		return map[string]string{openshift.ControlPlaneLabel: ""}
	}
	return nil
}
