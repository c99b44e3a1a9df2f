package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/openshift/library-go/pkg/config/client"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph"
	"github.com/openshift/ceph-csi-driver-operator/pkg/ceph/rados"
	"github.com/openshift/ceph-csi-driver-operator/pkg/check"
	"github.com/openshift/ceph-csi-driver-operator/pkg/driver"
)

// Exit codes of check beside 0.
const (
	exitWrong      = 1
	exitCannotTell = 2
)

// exit ends the process with a code; a nil error says nothing.
type exit struct {
	code int
	err  error
}

func (e exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

// silence is enough for OSDs that nobody else keeps waiting.
const silence = 3 * time.Second

// checkFlags are the flags of check.
type checkFlags struct {
	cephFlags
	kubeconfig, driver, pool, filesystem, output string
	timeout                                      time.Duration
	watch                                        bool
}

func newCheckCommand() *cobra.Command {
	var flags checkFlags
	cmd := &cobra.Command{
		Use:   "check --ceph-conf=FILE --keyring=FILE",
		Short: "Tell whether a ceph.conf and a keyring can serve a cluster, and what is missing",
		Long: "Tell whether a ceph.conf and a keyring can serve a cluster, and what is missing.\n" +
			"It changes nothing, in Ceph or in Kubernetes.\n\n" +
			"Exit codes: 0 nothing is wrong, 1 something is wrong, 2 the check could not be made.\n\n" +
			"With --kubeconfig=FILE --watch it shows a cluster in which the drivers run, until Ctrl-C. Without\n" +
			"--ceph-conf and --keyring, it connects to Ceph as the Secret " + driver.CredentialsSecret + " says.",
		Args:    func(cmd *cobra.Command, args []string) error { return cannotTell(cobra.NoArgs(cmd, args)) },
		PreRunE: func(cmd *cobra.Command, _ []string) error { return cannotTell(noEmptyFlags(cmd)) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.watch {
				return cannotTell(flags.view(cmd.Context(), cmd.OutOrStdout()))
			}
			return flags.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cannotTell(err) })
	f := cmd.Flags()
	flags.add(f, "The keyring with the Ceph user.")
	f.StringVar(&flags.kubeconfig, "kubeconfig", "", "A kubeconfig of the cluster; without it, only Ceph is looked at.")
	f.StringVar(&flags.driver, "driver", "both", "CSI driver to be deployed: "+strings.Join(driver.Kinds(), ", ")+" or both.")
	f.StringVar(&flags.pool, "pool", "", "The pool meant for ceph.pool (default: as the operator chooses).")
	f.StringVar(&flags.filesystem, "filesystem", "", "The filesystem meant for ceph.filesystem (default: as the operator chooses).")
	f.StringVarP(&flags.output, "output", "o", "table", "table or json.")
	f.BoolVar(&flags.watch, "watch", false, "Show a cluster in which the drivers run, every few seconds.")
	f.DurationVar(&flags.timeout, "timeout", time.Minute, "How long the whole check may take.")
	return cmd
}

// cannotTell marks an error as one for which nothing was checked.
func cannotTell(err error) error {
	if err == nil {
		return nil
	}
	return exit{exitCannotTell, err}
}

func (f checkFlags) run(ctx context.Context, out io.Writer) error {
	config, err := f.config()
	if err != nil {
		return cannotTell(err)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	report := check.Run(ctx, config)
	write := report.WriteTable
	if f.output == "json" {
		write = report.WriteJSON
	}
	if err := write(out); err != nil {
		return cannotTell(err)
	}
	if report.State() == check.Wrong {
		return exit{code: exitWrong}
	}
	return nil
}

func (f checkFlags) config() (check.Config, error) {
	config := check.Config{
		User: f.user, Pool: f.pool, Filesystem: f.filesystem,
		Resolve: resolve, Reach: check.Reach,
		Dial: dialCheck,
	}
	if f.output != "table" && f.output != "json" {
		return config, fmt.Errorf("--output=%q: must be table or json", f.output)
	}
	if f.timeout <= 0 {
		return config, fmt.Errorf("--timeout=%s: must be more than 0", f.timeout)
	}
	var err error
	if config.Drivers, err = f.drivers(); err != nil {
		return config, err
	}
	if config.Conf, config.Keyring, err = f.files(); err != nil {
		return config, err
	}
	if f.kubeconfig != "" {
		config.Cluster, err = cluster(f.kubeconfig)
	}
	return config, err
}

func (f checkFlags) drivers() ([]driver.Driver, error) {
	if f.driver == "both" {
		return driver.All, nil
	}
	d, err := driverOf(f.driver)
	if err != nil {
		return nil, fmt.Errorf("%w, or both", err)
	}
	return []driver.Driver{d}, nil
}

func dialCheck(ctx context.Context, source ceph.Source) (check.Ceph, error) {
	conn, err := rados.Dial(ctx, source, rados.Options{Silence: silence})
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// view shows a cluster until ctx ends, which is no error.
func (f checkFlags) view(ctx context.Context, out io.Writer) (err error) {
	if f.kubeconfig == "" {
		return errors.New("--watch: --kubeconfig is missing")
	}
	if f.output != "table" {
		return fmt.Errorf("--watch: not with --output=%s", f.output)
	}
	view := check.View{Dial: dialCheck, Resolve: resolve, Clock: clock.RealClock{}}
	if view.Drivers, err = f.drivers(); err != nil {
		return err
	}
	if view.Declaration, err = f.declaration(); err != nil {
		return err
	}
	if view.Cluster, err = cluster(f.kubeconfig); err != nil {
		return err
	}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return view.Run(ctx, &check.Plain{Out: out})
	}
	terminal := &check.Terminal{Out: file, Size: func() (int, int) {
		width, height, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 80, 24
		}
		return width, height
	}}
	return errors.Join(view.Run(ctx, terminal), terminal.Close())
}

func cluster(kubeconfig string) (*check.Cluster, error) {
	config, err := client.GetKubeConfigOrInClusterConfig(kubeconfig, nil)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("--kubeconfig: %w", err)
	}
	return &check.Cluster{Kubeconfig: kubeconfig, Kube: kube, Dynamic: objects}, nil
}
