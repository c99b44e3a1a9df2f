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
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/process"
	"github.com/openshift/ceph-csi-driver-operator/pkg/uninstall"
)

func newUninstallCommand() *cobra.Command {
	var kubeconfig, infraID string
	var yes, force, leaveCeph bool
	var rookNamespaces []string
	var declared cephFlags
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Take the operators, their drivers and their conditions off a cluster; volumes and pools stay",
		Args:    cobra.NoArgs,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return noEmptyFlags(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := acceptInfraID(infraID); err != nil {
				return err
			}
			if err := checkKubeconfig(kubeconfig); err != nil {
				return err
			}
			options, err := uninstallOptions(kubeconfig)
			if err != nil {
				return err
			}
			options.Force, options.RookNamespaces, options.InfraID, options.Out = force, rookNamespaces, infraID, cmd.OutOrStdout()
			if !leaveCeph {
				options.Dial, options.Resolve = dialUninstalling, resolve
			}
			if options.Declared, err = declared.declaration(); err != nil {
				return err
			}
			options.Confirm = func() (bool, error) { return yes || ask(cmd.InOrStdin(), cmd.OutOrStdout()), nil }
			return uninstall.Run(cmd.Context(), options)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "Kubeconfig file of a cluster administrator.")
	cmd.Flags().BoolVar(&yes, "yes", false, "Do not ask.")
	cmd.Flags().BoolVar(&force, "force", false, "Go on although PersistentVolumes or VolumeSnapshotContents of the drivers exist.")
	cmd.Flags().BoolVar(&leaveCeph, "leave-ceph", false, "Do not contact Ceph: pools that this cluster keeps from removal stay so, and its Ceph users stay. The ceph commands that remain are printed.")
	cmd.Flags().StringSliceVar(&rookNamespaces, "rook-namespace", nil, "Also release the pools of the Ceph cluster that Rook declares in this namespace: when no ClusterCSIDriver names it any more.")
	cmd.Flags().StringVar(&infraID, "infra-id", "", "The infra ID of the cluster, when Infrastructure cluster is gone.")
	declared.add(cmd.Flags(), "The keyring with an administrator of that Ceph cluster: when nothing on the cluster leads there any more.")
	return cmd
}

func dialUninstalling(ctx context.Context, source ceph.Source) (uninstall.Ceph, error) {
	conn, err := rados.Dial(ctx, source, rados.Options{Removes: true})
	if err != nil {
		return nil, err // not a nil *rados.Conn
	}
	return conn, nil
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
	overrides.QPS, overrides.Burst = process.ClientQPS, process.ClientBurst
	config, err := client.GetKubeConfigOrInClusterConfig(kubeconfig, overrides)
	if err != nil {
		return uninstall.Options{}, fmt.Errorf("--kubeconfig: %w", err)
	}
	config.QPS, config.Burst = process.ClientQPS, process.ClientBurst
	out := uninstall.Options{Operators: assets.Operator, Operands: map[string]assets.Set{}, Clock: clock.RealClock{}}
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
