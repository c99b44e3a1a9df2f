package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
)

// describe prints commands that work when pasted into a shell.
func describe(out io.Writer, c *embedded.Cluster) {
	fmt.Fprintf(out, "\nLook around:\n  export KUBECONFIG=%s\n  alias kubectl=%s\n  kubectl get nodes\n", c.AdminKubeconfig(), c.Kubectl())
	if ceph := c.Ceph(); ceph != nil {
		fmt.Fprintf(out, "  ceph --conf %s --keyring %s status\n", ceph.ConfFile(), ceph.KeyringFile())
		fmt.Fprintf(out, "Hand Ceph to the operator:\n  kubectl -n openshift-cluster-csi-drivers create secret generic ceph-credentials --from-file=ceph.conf=%s --from-file=keyring=%s\n",
			ceph.ConfFile(), ceph.KeyringFile())
	}
	fmt.Fprintf(out, "Logs:\n  %s\nStop it with Ctrl-C here, or with:\n  %s\n", filepath.Join(c.Dir(), "logs"), downCommand(c.Dir()))
}

func downCommand(dir string) string { return "go run ./test/cluster down --dir " + dir }
