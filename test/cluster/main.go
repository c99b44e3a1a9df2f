// Command cluster starts and stops an embedded cluster by hand.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	"github.com/spf13/cobra"

	"github.com/openshift/ceph-csi-driver-operator/test/cluster/cephrelease"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/embedded"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/images"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/node"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/programs"
	"github.com/openshift/ceph-csi-driver-operator/test/cluster/statedir"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{Use: "cluster", Short: "An OpenShift-like Kubernetes and a Ceph on this machine", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(newUp(), newDown(), newBinaries(), newImages(), newRelease(), newNodes())
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func newUp() *cobra.Command {
	var o embedded.Options
	var topology, platform string
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster and keep it until Ctrl-C or `down`",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.ControlPlaneTopology, o.Platform = configv1.TopologyMode(topology), configv1.PlatformType(platform)
			return up(cmd.Context(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Dir, "dir", "", "folder for the state (default: one in the user's cache folder)")
	flags.StringVar(&topology, "topology", string(configv1.HighlyAvailableTopologyMode), "HighlyAvailable, SingleReplica or External")
	flags.StringVar(&platform, "platform", string(configv1.NonePlatformType), "platform of Infrastructure, such as None, BareMetal, VSphere")
	flags.IntVar(&o.Mons, "mons", 1, "number of Ceph mons")
	flags.BoolVar(&o.WithoutCeph, "without-ceph", false, "start no Ceph")
	flags.BoolVar(&o.WithoutFilesystem, "without-filesystem", false, "make no CephFS")
	flags.BoolVar(&o.WithoutOperatorRBAC, "without-operator-rbac", false, "leave out the operators' ServiceAccounts and roles")
	return command
}

func up(ctx context.Context, o embedded.Options) error {
	dir, err := stateFolder(o.Dir)
	if err != nil {
		return err
	}
	o.Dir, o.Log = dir, os.Stdout
	c, err := embedded.Start(ctx, o)
	if running := (statedir.RunningError{}); errors.As(err, &running) {
		return fmt.Errorf("%w: use it, or stop it with `%s`", err, downCommand(dir))
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing is left running")
	}
	if err != nil {
		return err
	}
	describe(os.Stdout, c)
	<-ctx.Done()
	fmt.Println("Stopping")
	return c.Stop()
}

func newDown() *cobra.Command {
	var dir string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a cluster and remove its state",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folder, err := stateFolder(dir)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
			defer cancel()
			err = statedir.Stop(ctx, folder)
			if errors.Is(err, statedir.ErrNoCluster) {
				fmt.Println("Nothing to stop:", err)
				return nil
			}
			return err
		},
	}
	command.Flags().StringVar(&dir, "dir", "", "folder for the state (default: one in the user's cache folder)")
	return command
}

func newImages() *cobra.Command {
	return &cobra.Command{
		Use:   "images [NAME...]",
		Short: "Make archives of the manifests' images unless they are made, and print their files",
		RunE: func(cmd *cobra.Command, names []string) error {
			archives, err := images.Ensure(cmd.Context(), os.Stderr, names...)
			for _, archive := range archives {
				fmt.Println(archive.Name, archive.File)
			}
			return err
		},
	}
}

func newBinaries() *cobra.Command {
	return &cobra.Command{
		Use:   "binaries",
		Short: "Build the control plane's programs unless they are built, and print their folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			installed, err := programs.Ensure(cmd.Context(), os.Stderr)
			if err != nil {
				return err
			}
			fmt.Println(installed.Dir())
			if err := programs.EnsureImporter(cmd.Context(), os.Stderr); err != nil {
				fmt.Fprintln(os.Stderr, "CDI's controller cannot be built; tests go with a stand-in:", err)
			}
			if node.Missing() == nil {
				if _, err := programs.EnsureNodes(cmd.Context(), os.Stderr); err != nil {
					return err
				}
			}
			return cmd.Context().Err()
		},
	}
}

func newNodes() *cobra.Command {
	return &cobra.Command{
		Use:   "nodes",
		Short: "Say whether real nodes can run here",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return node.Missing() },
	}
}

func newRelease() *cobra.Command {
	return &cobra.Command{
		Use:   "release <release>",
		Short: "Unpack another release of Ceph unless it is there, and print the variables that build and run programs with it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			unpacked, err := cephrelease.Ensure(cmd.Context(), arguments[0], os.Stderr)
			if err != nil {
				return err
			}
			variables, err := unpacked.BuildEnvironment()
			for _, variable := range variables {
				name, value, _ := strings.Cut(variable, "=")
				fmt.Printf("export %s='%s'\n", name, value)
			}
			return err
		},
	}
}

func stateFolder(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	cache, err := programs.CacheRoot(os.Stderr)
	return filepath.Join(cache, "cluster"), err
}
