package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/openshift/library-go/pkg/config/client"
	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/pools"
	"github.com/openshift/ceph-csi-driver-operator/pkg/uninstall"
)

func newUninstallCommand() *cobra.Command {
	var kubeconfig string
	var yes, force, keepProtection bool
	var rookNamespaces []string
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take the operators, their drivers and their conditions off a cluster; volumes and pools stay",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkKubeconfig(kubeconfig); err != nil {
				return err
			}
			options, err := uninstallOptions(kubeconfig)
			if err != nil {
				return err
			}
			options.Force, options.RookNamespaces, options.Out = force, rookNamespaces, cmd.OutOrStdout()
			if !keepProtection {
				options.Release = releasePools
			}
			options.Confirm = func() (bool, error) { return yes || ask(cmd.InOrStdin(), cmd.OutOrStdout()), nil }
			return uninstall.Run(cmd.Context(), options)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "Kubeconfig file of a cluster administrator.")
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask.")
	cmd.Flags().BoolVar(&force, "force", false, "Go on although PersistentVolumes or VolumeSnapshotContents of the drivers exist.")
	cmd.Flags().BoolVar(&keepProtection, "keep-protection", false, "Do not contact Ceph: pools that this cluster keeps from removal stay so.")
	cmd.Flags().StringSliceVar(&rookNamespaces, "rook-namespace", nil, "Also release the pools of the Ceph cluster that Rook declares in this namespace: for a second run, when no ClusterCSIDriver names it any more.")
	return cmd
}

// releasePools connects to the Ceph cluster that data declares and takes this cluster's
// marks off its pools.
func releasePools(ctx context.Context, data map[string][]byte, infraID string) error {
	source, err := ceph.ParseSource(ctx, data, resolve)
	if err != nil {
		return err
	}
	conn, err := rados.Dial(ctx, source, rados.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	return pools.Release(ctx, conn, infraID, kinds()...)
}

func ask(in io.Reader, out io.Writer) bool { return confirm(in, out, "Remove all this?") }

// confirm asks whoever started the command.
func confirm(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprint(out, question+" Type yes: ")
	answer, _ := bufio.NewReader(in).ReadString('\n')
	return strings.TrimSpace(answer) == "yes"
}

func uninstallOptions(kubeconfig string) (uninstall.Options, error) {
	overrides := &client.ClientConnectionOverrides{}
	overrides.QPS, overrides.Burst = clientQPS, clientBurst
	config, err := client.GetKubeConfigOrInClusterConfig(kubeconfig, overrides)
	if err != nil {
		return uninstall.Options{}, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.QPS, config.Burst = clientQPS, clientBurst
	out := uninstall.Options{Operators: assets.Operator, Operands: map[string]assets.Set{}}
	if out.Kube, err = kubernetes.NewForConfig(config); err != nil {
		return uninstall.Options{}, fmt.Errorf("creating the Kubernetes client: %w", err)
	}
	if out.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return uninstall.Options{}, fmt.Errorf("creating the dynamic client: %w", err)
	}
	// Only the names of what is rendered matter here.
	images := map[string]string{}
	for _, name := range assets.RequiredImages() {
		images[name] = "none"
	}
	for _, d := range driver.All {
		if out.Operands[d.Name], err = assets.New(assets.Values{Driver: d, Images: images}); err != nil {
			return uninstall.Options{}, err
		}
	}
	return out, nil
}
