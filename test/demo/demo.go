package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/repository"
	"github.com/openshift/ceph-csi-driver-operator/test/onnodes"
)

// run tells the story on p until ctx ends or, if so wished, both drivers are available.
func run(ctx context.Context, o options, p *printer) (err error) {
	cluster, nodes, err := o.start(ctx, p)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			cluster.KeepState()
			err = fmt.Errorf("%w\nstate and logs stay in %s", err, cluster.Dir())
		}
		p.say("cluster", "stopping")
		err = errors.Join(err, cluster.Stop())
	}()
	if err := prepare(ctx, cluster, nodes, p); err != nil {
		return err
	}
	// The watch outlives ctx, so that the operators' end is not cut off.
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	w, err := newWatch(watching, cluster.AdminConfig())
	if err != nil {
		return err
	}
	s := newStory(o, cluster, w, p)
	s.nodes = nodes
	defer s.stopOperators()
	if err := s.startOperators(ctx); err != nil {
		return err
	}
	return s.tell(ctx)
}

// start returns the cluster, and the same again where its nodes are real.
func (o options) start(ctx context.Context, p *printer) (*embedded.Cluster, *onnodes.Cluster, error) {
	wanted := embedded.Options{Dir: o.dir, Log: p.of("cluster"), Mons: 3}
	if o.realNodes {
		nodes, err := onnodes.Start(ctx, wanted)
		if err != nil {
			return nil, nil, err
		}
		return nodes.Cluster, nodes, nil
	}
	wanted.WithoutOperatorRBAC = true
	cluster, err := embedded.Start(ctx, wanted)
	return cluster, nil, err
}

// reporting has ClusterOperator storage written: no cluster-storage-operator runs here.
const reporting = `[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--report-cluster-operator"}]`

// prepare does what an administrator would: it applies the manifests and declares the Ceph
// cluster.
func prepare(ctx context.Context, cluster *embedded.Cluster, nodes *onnodes.Cluster, p *printer) error {
	if nodes != nil {
		p.say("cluster", "installing by the README's commands: bin/release/kubernetes/, and Secret %s", driver.CredentialsSecret)
		return nodes.Install(ctx)
	}
	for _, arguments := range [][]string{
		{"apply", "-f", "manifests/"},
		{"-n", driver.Namespace, "patch", "deployment", clusterstorage.Name, "--type=json", "-p", reporting},
	} {
		if err := kubectl(ctx, cluster, arguments...); err != nil {
			return err
		}
	}
	p.say("cluster", "manifests/ applied: Deployment %s", clusterstorage.Name)
	client, err := cluster.Client()
	if err != nil {
		return err
	}
	ceph := cluster.Ceph()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: driver.CredentialsSecret, Namespace: driver.Namespace},
		StringData: map[string]string{"ceph.conf": ceph.Conf(), "keyring": ceph.Keyring()},
	}
	if _, err := client.CoreV1().Secrets(driver.Namespace).Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating Secret %s/%s: %w", driver.Namespace, driver.CredentialsSecret, err)
	}
	p.say("cluster", "Secret %s created from ceph.conf and keyring of Ceph cluster %s", driver.CredentialsSecret, ceph.FSID())
	return nil
}

// kubectl runs it in the folder of the repository.
func kubectl(ctx context.Context, cluster *embedded.Cluster, arguments ...string) error {
	root, err := repository.Root()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, cluster.Kubectl(), append([]string{"--kubeconfig=" + cluster.AdminKubeconfig()}, arguments...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, out)
	}
	return nil
}
