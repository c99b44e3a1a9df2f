// Package onnodes is a Kubernetes of two real nodes on which everything is installed by the README's
// commands, for programs that show or measure what a user gets.
package onnodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	operatorclientv1 "github.com/openshift/client-go/operator/clientset/versioned/typed/operator/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node/wire"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
)

const (
	nodeCount = 2
	// snapshotController is what a cluster has before our drivers come.
	snapshotController = "test/e2e/node/snapshot-controller.yaml"
)

// Cluster is a running one.
type Cluster struct {
	*embedded.Cluster
	Kube    kubernetes.Interface
	drivers operatorclientv1.ClusterCSIDriverInterface
}

// Start returns a cluster on which nothing is installed. What makes it one of real nodes is set here;
// images of the options are there besides ours.
func Start(ctx context.Context, o embedded.Options) (*Cluster, error) {
	archives, err := images.Ensure(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	o.Plain, o.RealNodes, o.Sandbox = true, nodeCount, images.Sandbox
	for _, archive := range archives {
		o.Images = append(o.Images, wire.Image(archive))
	}
	cluster, err := embedded.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Cluster: cluster}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, cluster.Stop())
	}
	return c, nil
}

func (c *Cluster) connect(ctx context.Context) error {
	operators, err := operatorclient.NewForConfig(c.AdminConfig())
	if err != nil {
		return err
	}
	c.drivers = operators.OperatorV1().ClusterCSIDrivers()
	if c.Kube, err = c.Client(); err != nil {
		return err
	}
	return c.apply(ctx, snapshotController)
}

func (c *Cluster) apply(ctx context.Context, file string) error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	_, err = c.KubectlIn(ctx, root, "apply", "-f", file)
	return err
}

// KubectlIn runs kubectl as an administrator in a folder, and returns what it prints.
func (c *Cluster) KubectlIn(ctx context.Context, dir string, arguments ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Kubectl(), append([]string{"--kubeconfig=" + c.AdminKubeconfig()}, arguments...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, out)
	}
	return string(out), nil
}

// Install runs the README's commands but for the last, which watches.
func (c *Cluster) Install(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "checkout-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	commands, err := repository.ReadmeCommands()
	if err != nil {
		return err
	}
	if len(commands) != 3 {
		return fmt.Errorf("README.md has %d commands for a Kubernetes without OpenShift, not 3", len(commands))
	}
	err = errors.Join(
		repository.Checkout(ctx, dir, "0.0.0"),
		os.WriteFile(filepath.Join(dir, "ceph.conf"), []byte(c.Ceph().Conf()), 0o600),
		os.WriteFile(filepath.Join(dir, "keyring"), []byte(c.Ceph().Keyring()), 0o600))
	if err != nil {
		return err
	}
	for _, command := range commands[:2] {
		if _, err := c.KubectlIn(ctx, dir, command...); err != nil {
			return err
		}
	}
	return nil
}
