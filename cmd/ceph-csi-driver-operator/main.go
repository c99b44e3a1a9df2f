// Command ceph-csi-driver-operator deploys ceph-csi on OpenShift and looks after the Ceph
// side of it. Each subcommand has a file of its own; flags and environment variables are
// read in this package and nowhere else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/component-base/logs"
	"k8s.io/klog/v2"

	"github.com/openshift/ceph-csi-driver-operator/pkg/process"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	klog.SetLogFilter(process.WithoutBodies{})
	if err := newCommand().ExecuteContext(ctx); err != nil {
		if text := strings.ReplaceAll(err.Error(), "\n", " "); text != "" {
			fmt.Fprintln(os.Stderr, "error: "+text)
		}
		code := 1
		if e := (exit{}); errors.As(err, &e) {
			code = e.code
		}
		os.Exit(code)
	}
}

func newCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "ceph-csi-driver-operator",
		Short:         "Operator of the Ceph CSI drivers (RBD and CephFS) for OpenShift",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	logs.AddFlags(cmd.PersistentFlags())
	cmd.AddCommand(newStartCommand(), newClusterStorageCommand(), newCheckCommand(), newTeardownCommand(), newUninstallCommand())
	return cmd
}
