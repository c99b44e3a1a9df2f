package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/openshift/library-go/pkg/config/client"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/openshift/ceph-csi-driver-operator/assets"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/clusterstorage/configs"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
	"github.com/openshift/ceph-csi-driver-operator/pkg/operator"
	"github.com/openshift/ceph-csi-driver-operator/pkg/process"
)

func newStartCommand() *cobra.Command {
	flags := controllercmd.NewControllerFlags()
	flags.Namespace = driver.Namespace
	var kind string
	cmd := &cobra.Command{
		Use:   "start --driver=rbd|cephfs",
		Short: "Run the operator of one CSI driver",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := startOptions(kind, os.Getenv)
			if err != nil {
				return err
			}
			if err := checkKubeconfig(flags.KubeConfigFile); err != nil {
				return err
			}
			p := process.Process{Name: options.Driver.OperatorName(), Identity: os.Getenv("POD_NAME"), Version: options.Version, Flags: flags}
			return p.Run(cmd.Context(), func(ctx context.Context, c *controllercmd.ControllerContext) error {
				return operator.Run(ctx, c, options)
			})
		},
	}
	flags.AddFlags(cmd)
	cmd.Flags().StringVar(&kind, "driver", "", "CSI driver to operate: "+strings.Join(driver.Kinds(), " or ")+".")
	return cmd
}

// startOptions checks all that can be checked before anything is started.
func startOptions(kind string, getenv func(string) string) (operator.Options, error) {
	d, err := driverOf(kind)
	if err != nil {
		return operator.Options{}, err
	}
	images := map[string]string{}
	var missing []string
	for _, name := range assets.RequiredImages() {
		if images[name] = getenv(name); images[name] == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return operator.Options{}, fmt.Errorf("environment variables without an image: %s", strings.Join(missing, ", "))
	}
	set, err := assets.New(assets.Values{Driver: d, Images: images})
	if err != nil {
		return operator.Options{}, err
	}
	host, err := os.Hostname()
	if err != nil {
		return operator.Options{}, err
	}
	return operator.Options{Driver: d, Assets: set, Dial: dial, Resolve: resolve, Host: host, Version: getenv(configs.EnvVersion)}, nil
}

func dial(ctx context.Context, source ceph.Source) (operator.Session, error) {
	conn, err := rados.Dial(ctx, source, rados.Options{})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

func resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func driverOf(kind string) (driver.Driver, error) {
	for _, d := range driver.All {
		if d.Kind == kind {
			return d, nil
		}
	}
	return driver.Driver{}, fmt.Errorf("--driver=%q: must be %s", kind, strings.Join(driver.Kinds(), " or "))
}

func checkKubeconfig(file string) error {
	_, err := client.GetKubeConfigOrInClusterConfig(file, nil)
	switch {
	case errors.Is(err, rest.ErrNotInCluster):
		return errors.New("not running in a cluster: name a kubeconfig file with --kubeconfig")
	case err != nil:
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	return nil
}
