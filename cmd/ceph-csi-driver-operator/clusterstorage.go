package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/cobra"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/process"
)

// driverImage is what the operators call the image that configs.EnvDriverImage names.
const driverImage = "DRIVER_IMAGE"

func newClusterStorageCommand() *cobra.Command {
	flags := controllercmd.NewControllerFlags()
	flags.Namespace = driver.Namespace
	var report, kubernetes bool
	var infraID string
	cmd := &cobra.Command{
		Use:   "cluster-storage",
		Short: "Start the operators where a Ceph cluster is declared, and report on them in Storage/cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := clusterStorageOptions(os.Getenv)
			if err != nil {
				return err
			}
			if err := checkKubeconfig(flags.KubeConfigFile); err != nil {
				return err
			}
			if err := checkInfraID(kubernetes, infraID); err != nil {
				return err
			}
			options.ReportClusterOperator, options.Kubernetes, options.InfraID = report, kubernetes, infraID
			p := process.Process{Name: clusterstorage.Name, Identity: os.Getenv("POD_NAME"), Version: options.Version, Flags: flags}
			if kubernetes {
				p.Certificate = clusterstorage.CertificateSecret
			}
			return p.Run(cmd.Context(), func(ctx context.Context, c *controllercmd.ControllerContext) error {
				return clusterstorage.Run(ctx, c, options)
			})
		},
	}
	flags.AddFlags(cmd)
	cmd.Flags().BoolVar(&report, "report-cluster-operator", false, "Write ClusterOperator storage, where no cluster-storage-operator does.")
	cmd.Flags().BoolVar(&kubernetes, "kubernetes", false, "Stand in for OpenShift where nothing of it is: make the objects that describe the cluster, and serving certificates.")
	cmd.Flags().StringVar(&infraID, "infra-id", "", "With --kubernetes: what volumes in Ceph are tagged with, once and for all; empty: made from the UID of the namespace kube-system.")
	return cmd
}

func checkInfraID(kubernetes bool, id string) error {
	if id != "" && !kubernetes {
		return fmt.Errorf("--infra-id=%s: only with --kubernetes; OpenShift has one already", id)
	}
	if err := clusterstorage.CheckInfraID(id); err != nil {
		return fmt.Errorf("--infra-id: %w", err)
	}
	return nil
}

// clusterStorageOptions checks all that can be checked before anything is started.
func clusterStorageOptions(getenv func(string) string) (clusterstorage.Options, error) {
	images := map[string]string{}
	var missing []string
	variables := slices.DeleteFunc(assets.RequiredImages(), func(name string) bool { return name == driverImage })
	for _, name := range variables {
		images[name] = getenv(name)
	}
	for _, name := range append(variables, configs.EnvDriverImage, configs.EnvOperatorImage, configs.EnvVersion) {
		if getenv(name) == "" {
			missing = append(missing, name)
		}
		if strings.ContainsAny(getenv(name), "\"\\${} \t\r\n") {
			return clusterstorage.Options{}, fmt.Errorf("environment variable %s is not an image: %q", name, getenv(name))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return clusterstorage.Options{}, fmt.Errorf("environment variables without a value: %s", strings.Join(missing, ", "))
	}
	return clusterstorage.Options{
		Assets: assets.Operator, SharedRoles: slices.Sorted(maps.Keys(assets.SharedRoles())), Getenv: getenv, Images: images, Version: getenv(configs.EnvVersion),
	}, nil
}
